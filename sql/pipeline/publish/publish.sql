-- Publish: append a version where the diff asks for one (R9). Version 1 is never written here.
--
-- $1 run_id: bigint
-- $2 stamp: instant of publication
-- $3 actor, to
-- $4 reason: text; null when the job publishes by itself
-- $5 definition_fingerprint: text
-- $6 kind: text, of these versions; in a closed period they are adjustments (R12)
--
-- Inputs: pg_temp.errata_change, pg_temp.errata_succession. Rows out: one a correction version.
-- Safe to repeat: the ledger takes each version number once.
insert into /*:ledger*/gold.daily_orders/*.*/ as g (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
  version, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count, is_void,
  kind, causes, reason, actor, approver, run_id, stamp, sealed_at, corrected_at, posting_period, replaces, definition_fingerprint
)
select
  c.window_start, c.window_end, c.local_date, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  greatest(c.old_version, 1) + 1, /*:each measure*/ c./*:measure*/revenue/*.*/, /*:end*/ c.event_count, c.is_void,
  case when c.posting_period is null then $6::text else 'adjustment' end, c.causes, $4::text, $3::text, c.approver, $1::bigint, $2::timestamptz,
  v.stamp,
  $2::timestamptz, c.posting_period,
  case when c.old_version = 0 then (
    select jsonb_agg(jsonb_build_object('window_start', s.old_start::text, 'window_end', s.old_end::text) order by s.old_start, s.old_end)
    from pg_temp.errata_succession as s
    where s.window_start = c.window_start
      and s.window_end = c.window_end
      /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      -- what was replaced before it shipped was never published
      and exists (
        select from /*:ledger*/gold.daily_orders/*.*/ as g
        where g.window_start = s.old_start
          and g.window_end = s.old_end
          /*:each key*/ and array[g./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
          and g.run_id is distinct from $1::bigint
      )
  ) end,
  $5::text
from pg_temp.errata_change as c
left join /*:ledger*/gold.daily_orders/*.*/ as v
  on v.window_start = c.window_start
  and v.window_end = c.window_end
  /*:each key*/ and array[v./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and v.version = 1
where c.verdict in ('change', 'emission')
