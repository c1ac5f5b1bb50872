-- The keys that one window is known by: those that were published, have events kept by name, or stand in the queue.
-- Rows out: one a key, at most $4, in the order of the key.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, an object of key columns and their texts, not necessarily all of them
-- $4 at_most: integer
-- $5 known_at: timestamptz; what was known then, the queue aside, which has no past; null: now
--
-- Safe to repeat: it reads.
with known as (
  select g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = $1::timestamptz and g.window_end = $2::timestamptz
    and ($5::timestamptz is null or g.stamp <= $5::timestamptz)
  union
  select e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start = $1::timestamptz and e.window_end = $2::timestamptz
  union
  select q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  where q.window_start = $1::timestamptz and q.window_end = $2::timestamptz
    and $5::timestamptz is null
)
select
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  l.version,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, l./*:measure*/revenue/*.*/::text) /*:end*/ as measures,
  coalesce(l.is_void, false) as is_void
from known as c
left join lateral (
  select g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = c.window_start
    and g.window_end = c.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and ($5::timestamptz is null or g.stamp <= $5::timestamptz)
  order by g.version desc
  limit 1
) as l on true
where jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) @> $3::jsonb
order by c.window_start /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
limit $4::integer
