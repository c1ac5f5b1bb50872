-- The keys of a window that is not sealed yet, straight from bronze. Rows out: one a key, at most $4.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, an object of key columns and their texts, not necessarily all of them
-- $4 at_most: integer
--
-- Safe to repeat: it reads.
select
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  null::integer as version,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ as measures,
  false as is_void
from /*:open_windows*/errata.daily_orders_open_windows/*.*/ () as c
where c.window_start = $1::timestamptz
  and c.window_end = $2::timestamptz
  and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) @> $3::jsonb
order by c.window_start /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
limit $4::integer
