-- Seal, sessions: version 1 of those that are due and whose rows are all in bronze (R8, R15).
--
-- $1 events_from, $2 events_to: all event times of those sessions, half-open
-- $3 ingested_from: no row of them was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
-- $5 run_id: bigint
-- $6 stamp: instant of publication
-- $7 actor, $8 reason: text
-- $9 definition_fingerprint: text
--
-- Inputs: bronze, pg_temp.errata_session_target and errata_session_member, analysed. Rows out: one a version 1. Safe to
-- repeat: the ledger takes one version 1. A session whose rows are not all there stays due.
with counted_row as (
  select m.session_id as errata_session_id, r.*, row_number() over (partition by m.session_id, m.event_id, m.row_digest) as errata_twin
  from pg_temp.errata_session_member as m
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = m.event_id
    and r.errata_row_digest::uuid = m.row_digest
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $2::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_quarantine is null
),
whole as (
  select m.session_id
  from (select m.session_id, count(*) as rows from pg_temp.errata_session_member as m group by m.session_id) as m
  join (
    select r.errata_session_id as session_id, count(*) as rows
    from counted_row as r
    where r.errata_twin = 1
    group by r.errata_session_id
  ) as f using (session_id, rows)
),
sealed as (
  update /*:session*/errata.daily_orders_session/*.*/ as s
  set is_seal_due = false
  from whole as w
  where s.session_id = w.session_id
)
insert into /*:ledger*/gold.daily_orders/*.*/ as g (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/
  version, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count,
  kind, reason, actor, run_id, stamp, sealed_at, replaces, definition_fingerprint
)
select
  t.window_start, t.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
  1, /*:each measure*/ v./*:measure*/revenue/*.*/, /*:end*/ v.event_count,
  'seal', $8::text, $7::text, $5::bigint, $6::timestamptz, $6::timestamptz, o.replaces, $9::text
from whole as w
join pg_temp.errata_session_target as t using (session_id)
join /*:session*/errata.daily_orders_session/*.*/ as s using (session_id)
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
join (
  select r.errata_session_id as session_id, /*:each measure*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as event_count
  from counted_row as r
  where r.errata_twin = 1 or /*:unique_rows*/false/*.*/
  group by r.errata_session_id
) as v using (session_id)
cross join lateral (
  select jsonb_agg(jsonb_build_object('window_start', p.window_start::text, 'window_end', p.window_end::text) order by p.window_start, p.window_end) as replaces
  from /*:session*/errata.daily_orders_session/*.*/ as p
  where p.replaced_by = s.session_id
    and exists (
      select from /*:ledger*/gold.daily_orders/*.*/ as l
      where l.window_start = p.window_start
        and l.window_end = p.window_end
        /*:each key*/ and array[l./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
    )
) as o
