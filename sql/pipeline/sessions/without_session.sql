-- Touch, sessions: a version 1 of the stream for a session that was replaced, or that lies within another which has its
-- rows and is sealed, has nothing to be compared with: it becomes void (R6s, R10).
--
-- $1 until: the watermark that seals, of keys without a delay of their own
--
-- Rows out: one a keyed window that leaves the queue as a new seal; it is in the queue for the other cause. Safe to repeat.
with shipped as (
  select q.*, k.key_id, /*:key_sealed_until*/$1::timestamptz/*.*/ as sealed_until
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    on k.is_key
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
  /*:session_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[k.region]/*.*/
  where q.cause = 'seal'
    and not exists (
      select from /*:session*/errata.daily_orders_session/*.*/ as l
      where l.key_id = k.key_id
        and l.window_start = q.window_start
        and l.window_end = q.window_end
        and l.replaced_by is null
    )
),
without_session as (
  select q.*, coalesce(s.replaced_cause, 'seal_mismatch') as becomes
  from shipped as q
  left join lateral (
    select s.replaced_cause
    from /*:session*/errata.daily_orders_session/*.*/ as s
    where s.key_id = q.key_id
      and s.window_start = q.window_start
      and s.window_end = q.window_end
      and s.replaced_by is not null
    order by s.session_id desc
    limit 1
  ) as s on true
  where s.replaced_cause is not null
    or exists (
      select from /*:session*/errata.daily_orders_session/*.*/ as o
      where o.key_id = q.key_id
        and o.replaced_by is null
        and o.window_start <= q.window_start
        and o.window_end >= q.window_end
        and o.window_end <= q.sealed_until
    )
),
asked as (
  insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
  )
  select w.window_start, w.window_end, /*:each key*/ w./*:key*/region/*.*/, /*:end*/ w.becomes, w.since
  from without_session as w
  on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
)
delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
using without_session as w
where q.cause = 'seal'
  and q.window_start = w.window_start
  and q.window_end = w.window_end
  /*:each key*/ and array[q./*:key*/region/*.*/] = array[w./*:key*/region/*.*/] /*:end*/
