-- Touch, sessions: a deleted or changed row is noted under the session that it makes by itself; what is recomputed is the
-- session that it joined (R6s). Several statements; rows out: none. Safe to repeat.
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select s.window_start, s.window_end, /*:each key*/ q./*:key*/region/*.*/, /*:end*/ q.cause, min(q.since)
from /*:touched*/errata.daily_orders_touched/*.*/ as q
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  on k.is_key
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
join /*:session*/errata.daily_orders_session/*.*/ as s
  on s.key_id = k.key_id
  and s.replaced_by is null
  and s.window_start <= q.window_start
  and s.window_end > q.window_start
where q.cause = 'source_change'
group by s.window_start, s.window_end, /*:each key*/ q./*:key*/region/*.*/, /*:end*/ q.cause
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing;

delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
where q.cause = 'source_change'
  and not exists (
    select from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    join /*:session*/errata.daily_orders_session/*.*/ as s on s.key_id = k.key_id
    where k.is_key
      /*:each key*/ and array[k./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
      and s.replaced_by is null
      and s.window_start = q.window_start
      and s.window_end = q.window_end
  )
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = q.window_start
      and e.window_end = q.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
      and e.landing is not null
  );

-- Released rows that wait for their session to be sealed are asked for when they regroup.
delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
where q.cause in ('refused', 'quarantine_release')
  and not exists (
    select from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    join /*:session*/errata.daily_orders_session/*.*/ as s on s.key_id = k.key_id
    where k.is_key
      /*:each key*/ and array[k./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
      and s.window_start = q.window_start
      and s.window_end = q.window_end
  )
