-- Sessions that this run replaced, and open ones whose bounds it moved: what is kept by window follows their rows into the session that has them now (R6s).
--
-- $1 until: the watermark that seals, of keys without a delay of their own; null while there is none
-- $2 run_id: bigint
-- $3 since: the bound of this run
--
-- A row that a version of the old session includes: where the new one is still to be sealed, its version 1 counts the row,
-- which arrived before the watermark reached that end (R8); else the version that this run appends.
-- Rows out: one a replaced session that had an end passed, into the queue: it becomes void. Safe to repeat.
with moved as (
  select
    o.session_id,
    o.key_id,
    o.replaced_cause as cause,
    o.window_start as old_start,
    o.window_end as old_end,
    n.window_start,
    n.window_end,
    n.is_seal_due /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
  from /*:session*/errata.daily_orders_session/*.*/ as o
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = o.key_id
  where o.replaced_run_id = $2::bigint and n.replaced_by is null
  union all
  select
    o.session_id, o.key_id, null, b.window_start, b.window_end, n.window_start, n.window_end, n.is_seal_due /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_session_moved as b
  join /*:session*/errata.daily_orders_session/*.*/ as o using (session_id)
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = o.key_id
  where n.replaced_by is null
    and (b.window_start, b.window_end) <> (o.window_start, o.window_end)
),
followed as (
  update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  set
    window_start = m.window_start,
    window_end = m.window_end,
    state = case
      when e.state = 'included' and not m.is_seal_due then 'pending'
      when e.state = 'pending' and e.released and m.is_seal_due then 'included'
      else e.state
    end,
    released = e.released or coalesce(e.state = 'included', false),
    version = case
      when e.state = 'included' and m.is_seal_due then 1
      when e.state = 'pending' and e.released and m.is_seal_due then 1
    end,
    state_run_id = $2::bigint
  from moved as m
  where e.window_start = m.old_start
    and e.window_end = m.old_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[m./*:key*/region/*.*/] /*:end*/
    -- a row that awaits its turn stays in the session that it makes by itself
    and (
      coalesce(e.landing not in ('side_output', 'quarantined'), true)
      or e.state <> 'pending'
      or exists (
        select from /*:session_row*/errata.daily_orders_session_row/*.*/ as r
        where r.key_id = m.key_id and r.event_id = e.event_id and r.row_digest = e.row_digest::uuid
      )
    )
),
-- A row that came late to a session which another took over, or that only its own source partition's watermark refused.
counted as (
  update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  set state = 'included', version = 1
  from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.key_id = k.key_id
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = m.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
  where k.is_key
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
    and m.event_id = e.event_id
    and m.row_digest = e.row_digest::uuid
    and n.replaced_by is null
    and n.is_seal_due
    and (not m.is_late or n.session_id <> m.session_id)
    and e.first_run_id = $2::bigint
    and e.state = 'pending'
    and e.released
),
copied as (
  update /*:copy*/errata.daily_orders_copy/*.*/ as c
  set window_start = m.window_start, window_end = m.window_end
  from moved as m
  where c.window_start = m.old_start
    and c.window_end = m.old_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[m./*:key*/region/*.*/] /*:end*/
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select m.old_start, m.old_end, /*:each key*/ m./*:key*/region/*.*/, /*:end*/ m.cause, $3::timestamptz
from moved as m
/*:moved_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[m.region]/*.*/
where m.old_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
  and m.cause is not null
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
