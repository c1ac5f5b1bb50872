-- Take, sessions: where a run is limited in windows, what one of them replaced becomes void with it, in one run (R6s, R19).
--
-- $1 until: the watermark that seals, of keys without a delay of their own
--
-- Rows out: one a further keyed window, into pg_temp.errata_touched. Safe to repeat: writes work tables only.
with current_of as (
  select o.window_start, o.window_end, p.session_id /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
  from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  join /*:session*/errata.daily_orders_session/*.*/ as o on o.key_id = k.key_id
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
  where n.replaced_by is null
),
queued as (
  select q.window_start, q.window_end, /*:each key*/ q./*:key*/region/*.*/, /*:end*/ array_agg(q.cause order by q.cause) as causes
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  /*:queue_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[q.region]/*.*/
  where q.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
  group by q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
),
linked as (
  select q.*, c.session_id
  from queued as q
  join current_of as c
    on c.window_start = q.window_start
    and c.window_end = q.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[q./*:key*/region/*.*/] /*:end*/
),
taken as (
  select l.session_id
  from linked as l
  join pg_temp.errata_touched as t
    on t.window_start = l.window_start
    and t.window_end = l.window_end
    /*:each key*/ and array[t./*:key*/region/*.*/] = array[l./*:key*/region/*.*/] /*:end*/
)
insert into pg_temp.errata_touched (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ causes, has_null_key)
select distinct
  t.target, l.window_start, l.window_end, /*:each key*/ l./*:key*/region/*.*/, /*:end*/ l.causes,
  false /*:each key*/ or l./*:key*/region/*.*/ is null /*:end*/
from linked as l
join (values ('counted'), ('open'), ('all')) as t (target)
  on t.target = 'counted' or l.causes && '{seal,seal_mismatch}'
where l.session_id in (select k.session_id from taken as k)
  and not exists (
    select from pg_temp.errata_touched as t
    where t.window_start = l.window_start
      and t.window_end = l.window_end
      /*:each key*/ and array[t./*:key*/region/*.*/] = array[l./*:key*/region/*.*/] /*:end*/
  )
