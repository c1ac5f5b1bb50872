-- Settle the queue: what was answered leaves it, what waits says why (R15, R19).
--
-- $1 complete_from: bronze is complete from here on
--
-- Inputs: pg_temp.errata_change. Rows out: none. Safe to repeat.
with answered as (
  delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
  using pg_temp.errata_change as c
  where q.window_start = c.window_start
    and q.window_end = c.window_end
    /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and c.verdict in ('change', 'same', 'included', 'propose')
)
update /*:touched*/errata.daily_orders_touched/*.*/ as q
set blocked_reason = case
    when q.window_start < $1::timestamptz then format('bronze is complete from %s on, the window starts earlier', $1::text)
    else (
      select c.why
      from pg_temp.errata_change as c
      where q.window_start = c.window_start
        and q.window_end = c.window_end
        /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
        and c.verdict in ('wait', 'missing', 'unexamined')
    )
  end
where q.window_start < $1::timestamptz
  or exists (
    select from pg_temp.errata_change as c
    where q.window_start = c.window_start
      and q.window_end = c.window_end
      /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and c.verdict in ('wait', 'missing', 'unexamined')
  )
  or q.blocked_reason is not null
