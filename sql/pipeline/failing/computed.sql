-- Failing: of the keyed windows that this run has recomputed every measure could be computed.
--
-- Inputs: pg_temp.errata_touched. Rows out: one a row of the queue that had failed before. Safe to repeat.
update /*:touched*/errata.daily_orders_touched/*.*/ as q
set tries = 0, error = null, failed_run_id = null
from pg_temp.errata_touched as t
where q.error is not null
  and q.cause <> 'unsealed'
  and t.window_start = q.window_start
  and t.window_end = q.window_end
  /*:each key*/ and array[t./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
