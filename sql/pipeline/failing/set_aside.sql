-- Failing: keyed windows of which a measure cannot be computed stay in the queue, with the error and the number of tries,
-- and out of the rest of this run (R19).
--
-- $1 since: the bound of this run
-- $2 is_unsealed: boolean; it is their version 1 that could not be computed
-- $3 run_id: bigint
--
-- Inputs: pg_temp.errata_failing. Rows out: one a row of the queue. Safe to repeat: a run counts as one try.
with taken as (
  delete from pg_temp.errata_touched as t
  using pg_temp.errata_failing as f
  where t.window_start = f.window_start
    and t.window_end = f.window_end
    /*:each key*/ and array[t./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
),
tried as (
  update /*:touched*/errata.daily_orders_touched/*.*/ as q
  set
    tries = q.tries + case when q.failed_run_id is distinct from $3::bigint then 1 else 0 end,
    error = f.error,
    failed_run_id = $3::bigint
  from pg_temp.errata_failing as f
  where q.window_start = f.window_start
    and q.window_end = f.window_end
    /*:each key*/ and array[q./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
    and (q.cause = 'unsealed') = $2::boolean
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since, tries, error, failed_run_id
)
select f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/ 'unsealed', $1::timestamptz, 1, f.error, $3::bigint
from pg_temp.errata_failing as f
where $2::boolean
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
