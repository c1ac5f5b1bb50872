-- Seal: version 1 of keyed windows that failed before, over the rows that landed open (R8). What landed late meanwhile waits
-- in the queue, and is corrected after it.
--
-- $1 run_id: bigint
-- $2 stamp: instant of publication
-- $3 actor, $4 reason: text
-- $5 definition_fingerprint: text
--
-- Inputs: pg_temp.errata_touched and errata_result, target `unsealed`. A keyed window without rows by now has no version 1.
-- Rows out: one a version 1. Safe to repeat: the ledger takes one version 1.
with sealed as (
  delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
  using pg_temp.errata_touched as t
  where t.target = 'unsealed'
    and q.cause = 'unsealed'
    and q.window_start = t.window_start
    and q.window_end = t.window_end
    /*:each key*/ and array[q./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
)
insert into /*:ledger*/gold.daily_orders/*.*/ as g (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
  version, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count,
  kind, reason, actor, run_id, stamp, sealed_at, definition_fingerprint
)
select
  r.window_start, r.window_end, w.local_date, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  1, /*:each measure*/ r./*:measure*/revenue/*.*/, /*:end*/ r.event_count,
  'seal', $4::text, $3::text, $1::bigint, $2::timestamptz, $2::timestamptz, $5::text
from pg_temp.errata_result as r
join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.window_start) as w on w.window_start = r.window_start
where r.target = 'unsealed'
