-- Amend: the keyed windows that a person's word is about enter the queue, since their bronze rows were deleted or changed.
--
-- $1 since: the bound of this run
--
-- Inputs: pg_temp.errata_asked. Rows out: none. Safe to repeat: the queue holds each once.
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select a.window_start, a.window_end, /*:each key*/ a./*:key*/region/*.*/, /*:end*/ a.cause, $1::timestamptz
from pg_temp.errata_asked as a
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
