-- Seal, sessions, where the stream seals: a session whose end the watermark has passed and that the stream did not write
-- is asked for (R8, R9).
--
-- $1 until: the watermark that seals, of keys without a delay of their own
-- $2 since: the bound of this run
--
-- Rows out: one a session, into the queue. Safe to repeat: a session is asked for once.
with passed as (
  update /*:session*/errata.daily_orders_session/*.*/ as s
  set is_seal_due = false
  from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  /*:session_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[k.region]/*.*/
  where k.key_id = s.key_id and s.is_seal_due and s.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
  returning s.key_id, s.window_start, s.window_end
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select p.window_start, p.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/ 'seal_mismatch', $2::timestamptz
from passed as p
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k using (key_id)
where not exists (
  select from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = p.window_start
    and g.window_end = p.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
)
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
