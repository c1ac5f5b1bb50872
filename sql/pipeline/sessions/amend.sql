-- Amend, sessions: rows that bronze holds no more leave the session that they joined, which keeps its bounds; a row with
-- the same id that is there, as a copy or changed, counts in its place (R5, R6s, R7).
--
-- $1 run_id: bigint
-- $2 released_causes: text[], the causes that the policy publishes by itself (R10)
--
-- Inputs: pg_temp.errata_amended, analysed; bronze. Rows out: one an event with a state that is gone, back or changed.
-- Safe to repeat.
with amended as (
  select a.window_start, a.window_end, k.key_id, s.session_id /*:each key*/ , a./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_amended as a
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    on k.is_key
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join /*:session*/errata.daily_orders_session/*.*/ as s
    on s.key_id = k.key_id
    and s.window_start = a.window_start
    and s.window_end = a.window_end
    and s.replaced_by is null
),
present as materialized (
  select distinct on (a.window_start, a.window_end, a.key_id, r.errata_event_id, r.errata_row_digest)
    a.window_start, a.window_end, a.key_id, r.*
  from amended as a
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= a.window_start
    and r.errata_event_time < a.window_end
    /*:each key*/ and array[r./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  where r.errata_is_valid
),
judged as (
  select a.window_start, a.window_end, m.key_id, m.event_id, m.row_digest, m.session_id, m.is_late
  from amended as a
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = a.session_id
  join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
  union all
  -- what awaits a person has joined no session
  select a.window_start, a.window_end, a.key_id, e.event_id, e.row_digest::uuid, null, null
  from amended as a
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = a.window_start
    and e.window_end = a.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  where e.landing = 'side_output'
    and e.state = 'pending'
    and not exists (
      select from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
      where m.key_id = a.key_id and m.event_id = e.event_id and m.row_digest = e.row_digest::uuid
    )
),
gone as (
  select j.*
  from judged as j
  where not exists (
    select from present as r
    where r.window_start = j.window_start
      and r.window_end = j.window_end
      and r.key_id = j.key_id
      and r.errata_event_id = j.event_id
      and r.errata_row_digest::uuid = j.row_digest
  )
),
heir as (
  select distinct on (g.key_id, g.event_id, g.row_digest) g.session_id as heir_session_id, g.is_late, g.row_digest as gone_digest, r.*
  from gone as g
  join present as r
    on r.window_start = g.window_start
    and r.window_end = g.window_end
    and r.key_id = g.key_id
    and r.errata_event_id = g.event_id
  -- not by the window: a session that was open when it had the copy has grown since
  join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.event_id = r.errata_event_id
    and c.row_digest = r.errata_row_digest
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
  order by g.key_id, g.event_id, g.row_digest, r.errata_ingested_at, r.errata_row_digest collate "C"
),
left_session as (
  delete from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
  using gone as g
  where m.key_id = g.key_id and m.event_id = g.event_id and m.row_digest = g.row_digest
),
inherited as (
  insert into /*:session_row*/errata.daily_orders_session_row/*.*/ (key_id, event_id, row_digest, session_id, is_late)
  select h.key_id, h.errata_event_id, h.errata_row_digest::uuid, h.heir_session_id, h.is_late
  from heir as h
  where h.heir_session_id is not null
  -- it counted in a session of its own before a further row joined the two
  on conflict (key_id, event_id, row_digest) do update set copy_since = null
),
no_copy as (
  delete from /*:copy*/errata.daily_orders_copy/*.*/ as c
  using heir as h
  where c.event_id = h.errata_event_id
    and c.row_digest = h.errata_row_digest
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[h./*:key*/region/*.*/] /*:end*/
),
no_conflict as (
  delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  using heir as h
  where e.event_id = h.errata_event_id
    and e.row_digest = h.errata_row_digest
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[h./*:key*/region/*.*/] /*:end*/
    and e.is_conflict
    and e.landing is null
),
fate as (
  select
    e.ctid as place,
    r.errata_event_id is null and h.errata_event_id is null as is_gone,
    e.state is not distinct from 'included' as is_included,
    h.errata_event_id is not null as is_changed,
    h.errata_event_time, h.errata_ingested_at, h.errata_arrived_at, h.errata_source_partition, h.errata_row_digest
    /*:each measure*/ , m./*:measure*/revenue/*.*/ /*:end*/
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  join amended as a
    on a.window_start = e.window_start
    and a.window_end = e.window_end
    /*:each key*/ and array[a./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
  left join present as r
    on r.window_start = a.window_start
    and r.window_end = a.window_end
    and r.key_id = a.key_id
    and r.errata_event_id = e.event_id
    and r.errata_row_digest = e.row_digest
  left join heir as h
    on h.key_id = a.key_id
    and h.errata_event_id = e.event_id
    and h.gone_digest = e.row_digest::uuid
  cross join lateral (
    select count(*) as errata_event_count /*:each measure*/ , /*:contribution*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/ /*:end*/
    from (select h.*) as one
    /*:except_failing_row*/where true/*.*/
  ) as m
  where e.landing is not null
    and (r.errata_event_id is null or e.gone_run_id is not null)
)
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set
  state = case when t.is_included then 'included' when not t.is_gone then coalesce(e.state, 'pending') end,
  released = case
    when t.is_included then e.released
    when t.is_gone then false
    when e.state is null then e.cause = any ($2::text[])
    else e.released
  end,
  gone_run_id = case when t.is_gone then $1::bigint end,
  row_digest = coalesce(t.errata_row_digest, e.row_digest),
  event_time = case when t.is_changed and not t.is_included then t.errata_event_time else e.event_time end,
  ingested_at = case when t.is_changed and not t.is_included then t.errata_ingested_at else e.ingested_at end,
  arrived_at = case when t.is_changed and not t.is_included then t.errata_arrived_at else e.arrived_at end,
  source_partition = case when t.is_changed and not t.is_included then t.errata_source_partition else e.source_partition end,
  lateness_seconds = case
    when t.is_changed and not t.is_included then extract(epoch from t.errata_arrived_at - t.errata_event_time)
    else e.lateness_seconds
  end,
  /*:each measure*/ /*:measure*/revenue/*.*/ = case when t.is_changed and not t.is_included then t./*:measure*/revenue/*.*/ else e./*:measure*/revenue/*.*/ end, /*:end*/
  state_run_id = $1::bigint
from fate as t
where e.ctid = t.place
