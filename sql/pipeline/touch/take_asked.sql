-- Take what a person's word is about, queued or not, and nothing else: keyed windows that are sealed and whose bronze is
-- complete (R9, R15).
--
-- $1 sealed_until: the watermark that seals
-- $2 complete_from: bronze is complete from here on
-- $3 rollup_id: integer
--
-- Inputs: pg_temp.errata_asked. Rows out: one a keyed window and set of rows, into pg_temp.errata_touched, as take.sql has
-- them. Safe to repeat: writes work tables only.
with asked as (
  select q.*
  from pg_temp.errata_asked as q
  /*:queue_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[q.region]/*.*/
  where q.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
    and q.window_start >= $2::timestamptz
),
cause as (
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.cause
  from asked as c
  where c.cause is not null
  union
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ q.cause
  from asked as c
  join /*:touched*/errata.daily_orders_touched/*.*/ as q
    on q.window_start = c.window_start
    and q.window_end = c.window_end
    /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  union
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ n.cause
  from asked as c
  join /*:schema*/errata/*.*/.proposal as o
    on o.rollup_id = $3::integer
    and o.window_start = c.window_start
    and o.window_end = c.window_end
    and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
  cross join lateral unnest(o.causes) as n (cause)
  where (o.state = 'open' or o.rejected_measures is not null or o.proposal_id = c.errata_proposal_id)
    and n.cause in ('source_change', 'seal_mismatch')
),
taken as (
  select
    c.window_start,
    c.window_end,
    /*:each key*/ c./*:key*/region/*.*/, /*:end*/
    coalesce(array_agg(n.cause order by n.cause) filter (where n.cause is not null), '{}') as causes
  from asked as c
  left join cause as n
    on n.window_start = c.window_start
    and n.window_end = c.window_end
    /*:each key*/ and array[n./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  group by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
)
insert into pg_temp.errata_touched (target, window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ causes, has_null_key)
select
  t.target, c.window_start, c.window_end, w.local_date, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.causes,
  false /*:each key*/ or c./*:key*/region/*.*/ is null /*:end*/
from taken as c
join lateral /*:windows*/errata.daily_orders_windows/*.*/ (c.window_start) as w on w.window_start = c.window_start
join (values ('counted'), ('open'), ('all')) as t (target)
  on t.target = 'counted' or c.causes && '{seal,seal_mismatch}'
-- nothing is corrected before version 1 is written
where not 'unsealed' = any (c.causes)
