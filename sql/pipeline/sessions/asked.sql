-- Touch, sessions: one that replaced others and arose past its end is asked for, also where each row that joined it is a
-- copy (R5, R6s).
--
-- $1 run_id: bigint
-- $2 since: the bound of this run
--
-- Rows out: one a session, into the queue. Safe to repeat: the queue holds each once.
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select n.window_start, n.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/ min(o.replaced_cause), $2::timestamptz
from /*:session*/errata.daily_orders_session/*.*/ as o
join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = o.replaced_by
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = n.key_id
where o.replaced_run_id = $1::bigint
  and n.replaced_by is null
  and not n.is_seal_due
  and not exists (
    select from /*:touched*/errata.daily_orders_touched/*.*/ as w
    where w.window_start = n.window_start
      and w.window_end = n.window_end
      /*:each key*/ and array[w./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
  )
  and not exists (
    select from /*:ledger*/gold.daily_orders/*.*/ as g
    where g.window_start = n.window_start
      and g.window_end = n.window_end
      /*:each key*/ and array[g./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
  )
group by n.window_start, n.window_end /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
