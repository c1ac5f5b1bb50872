-- Keyed windows of which a measure cannot be computed, by how long they wait. Rows out: one each, at most $1.
--
-- $1 at_most: integer
-- $2 at: instant from which ages are reckoned
--
-- Safe to repeat: it reads.
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  bool_or(c.cause = 'unsealed') as is_unsealed,
  max(c.error) as error,
  max(c.tries) as tries,
  max(c.failed_run_id)::text as failed_run_id,
  min(c.since)::text as since,
  extract(epoch from $2::timestamptz - min(c.since))::text as age_seconds,
  count(*) over ()::text as in_all
from /*:touched*/errata.daily_orders_touched/*.*/ as c
where c.error is not null
group by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
order by min(c.since), c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/::text collate "C" /*:end*/
limit $1::integer
