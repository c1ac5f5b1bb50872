-- Watermark, `recorded`: from when on this run counts the entries of the log again, and whether it looks through the
-- older ones (R6).
--
-- $1 rollup_id: integer
-- $2 transaction: the 64-bit number to which age() counts back
-- $3 is_restored: boolean, rows bear the transactions of another cluster or database
-- $4 frontier: the greatest bound so far; null before the first
-- $5 bound: bound of this run
--
-- Looking through the whole log costs its length, so it is done once a day of the frontier; what every run counts again
-- is the last day or two, which an index on the log's `at` finds. A view or a foreign table has no xmin to tell an old
-- entry from a new one: of it the last day is counted, and nothing else is seen.
--
-- Rows out: one. `next_from`: what the next run counts from; `horizon_age`: null where nothing can be told from the last
-- look. Reads only.
with recursive tree as (
  select /*:log_name*/'gold.daily_orders_watermark_log'/*.*/::regclass::oid as oid
  union all
  select i.inhrelid
  from tree as t
  join pg_catalog.pg_inherits as i on i.inhparent = t.oid and not i.inhdetachpending
),
log as (
  select c.oid, c.relkind
  from tree as t
  join pg_catalog.pg_class as c on c.oid = t.oid
  where c.relkind <> 'p'
),
known as (
  select k.*, not $3::boolean and k.horizon::text::bigint <= $2::bigint as is_of_here
  from /*:schema*/errata/*.*/.watermark_log_look as k
  where k.rollup_id = $1::integer
),
plan as (
  select
    l.*,
    k.recounted_from,
    k.relations as known_relations,
    k.seen,
    case when k.is_of_here then least($2::bigint - k.horizon::text::bigint, 2147483647)::integer end as horizon_age,
    l.has_row_age and (k.is_of_here is not true or k.recounted_from <= $4::timestamptz - interval '2 days') as is_due
  from (select coalesce(bool_and(c.relkind = 'r'), true) as has_row_age, coalesce(array_agg(c.oid order by c.oid), '{}') as relations from log as c) as l
  left join known as k on true
)
select
  p.relations::text[] as relations,
  p.has_row_age,
  p.is_due,
  coalesce(case when p.has_row_age then p.recounted_from end, $4::timestamptz - interval '1 day') as recounted_from,
  p.known_relations::text[] as known_relations,
  p.horizon_age,
  p.seen::text as seen,
  case
    when p.is_due or not p.has_row_age then $5::timestamptz - interval '1 day'
    else p.recounted_from
  end as next_from
from plan as p
