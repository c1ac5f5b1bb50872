-- Settle the queue: what was answered leaves it, what waits says why (R15, R19).
--
-- $1 complete_from: bronze is complete from here on
-- $2 run_id: bigint
--
-- Inputs: pg_temp.errata_change. Rows out: none. Safe to repeat.
with answer as (
  select
    q.ctid as place,
    bool_or(c.verdict is not null) as is_judged,
    bool_or(coalesce(
      case c.verdict
        when 'emission' then q.cause = 'stream_emission'
        -- whatever comes later of it touches the window again
        when 'propose' then true
        when 'held' then true
        else c.verdict in ('change', 'same', 'included', 'rejected')
      end,
      false
    )) as is_answered,
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
  where q.cause <> 'unsealed'
  group by q.ctid, q.window_start
),
heard as (
  update /*:emission*/errata.daily_orders_emission/*.*/ as m
  set run_id = $2::bigint
  from pg_temp.errata_change as c
  where m.window_start = c.window_start
    and m.window_end = c.window_end
    /*:each key*/ and array[m./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and m.run_id is null
    and m.kind = 'later_emission'
    and (
      c.verdict in ('change', 'same', 'included', 'emission')
      -- nor does it speak again where a person has rejected what it said
      or (c.verdict = 'rejected' and c.causes = '{stream_emission}')
    )
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
  -- of what this run did not take it knows nothing new
  and (a.is_judged or q.window_start < $1::timestamptz)
  and q.blocked_reason is distinct from a.blocked_reason
