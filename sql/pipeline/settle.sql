-- Settle the queue: what was answered leaves it, what waits says why (R15, R19).
--
-- $1 complete_from: bronze is complete from here on
--
-- Inputs: pg_temp.errata_change. Rows out: none. Safe to repeat.
with answer as (
  select
    q.ctid as place,
    bool_or(coalesce(c.verdict in ('change', 'same', 'included', 'propose'), false)) as is_answered,
    case
      when q.window_start < $1::timestamptz
        then format('bronze is complete from %s on, the window starts earlier', $1::text)
      else max(c.why) filter (where c.verdict in ('wait', 'missing', 'unexamined'))
    end as blocked_reason
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  left join pg_temp.errata_change as c
    on c.window_start = q.window_start
    and c.window_end = q.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
  group by q.ctid, q.window_start
),
answered as (
  delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
  using answer as a
  where q.ctid = a.place and a.is_answered
)
update /*:touched*/errata.daily_orders_touched/*.*/ as q
set blocked_reason = a.blocked_reason
from answer as a
where q.ctid = a.place
  and not a.is_answered
  and q.blocked_reason is distinct from a.blocked_reason
