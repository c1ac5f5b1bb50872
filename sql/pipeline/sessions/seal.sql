-- Seal, sessions: version 1 of those that are due and whose rows are all in bronze (R8, R15).
--
-- $1 run_id: bigint
-- $2 stamp: instant of publication
-- $3 actor, $4 reason: text
-- $5 definition_fingerprint: text
--
-- Inputs: pg_temp.errata_session_target and errata_session_value, analysed. Rows out: one a version 1. Safe to repeat: the
-- ledger takes one version 1. A session whose rows are not all there stays due.
with whole as materialized (
  select t.session_id, t.window_start, t.window_end, v.event_count /*:each measure*/ , v./*:measure*/revenue/*.*/ /*:end*/
  from pg_temp.errata_session_target as t
  join pg_temp.errata_session_value as v on v.target = t.target and v.session_id = t.session_id and v.found = t.recorded
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
  w.window_start, w.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
  1, /*:each measure*/ w./*:measure*/revenue/*.*/, /*:end*/ w.event_count,
  'seal', $4::text, $3::text, $1::bigint, $2::timestamptz, $2::timestamptz, o.replaces, $5::text
from whole as w
join /*:session*/errata.daily_orders_session/*.*/ as s using (session_id)
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
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
