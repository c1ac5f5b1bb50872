-- Touch, sessions: where one is touched, what stands proposed or set aside of those that it replaced, and of itself, is judged
-- anew with it (R6s, R10).
--
-- $1 rollup_id: integer
-- $2 since: the bound of this run
--
-- Rows out: one a keyed window and cause, into the queue. Safe to repeat: the queue holds each once.
with standing as (
  select
    o.window_start,
    o.window_end,
    /*:each key*/ (o.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
    o.causes
  from /*:schema*/errata/*.*/.proposal as o
  where o.rollup_id = $1::integer
    and (o.state = 'open' or o.rejected_measures is not null)
),
of_session as (
  select distinct c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.causes, k.key_id, p.session_id
  from standing as c
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    on k.is_key
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  join /*:session*/errata.daily_orders_session/*.*/ as o
    on o.key_id = k.key_id
    and o.window_start = c.window_start
    and o.window_end = c.window_end
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
  where n.replaced_by is null
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select distinct c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ u.cause, $2::timestamptz
from of_session as c
cross join lateral unnest(c.causes) as u (cause)
where exists (
    select from /*:session_part*/errata.daily_orders_session_part/*.*/ as p
    join /*:session*/errata.daily_orders_session/*.*/ as o on o.session_id = p.part_id
    join /*:touched*/errata.daily_orders_touched/*.*/ as w
      on w.window_start = o.window_start
      and w.window_end = o.window_end
      /*:each key*/ and array[w./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    where p.session_id = c.session_id
  )
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
