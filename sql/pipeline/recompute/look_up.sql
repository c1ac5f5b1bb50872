-- Recompute: which keyed windows are looked up in an index of bronze, each by itself, and which are read with all others in
-- one go through the ingestion partitions that may hold their rows.
--
-- $1 rollup_id: integer
--
-- Inputs: pg_temp.errata_touched, told what is left out; pg_temp.errata_partition. Rows out: none; the mark `is_looked_up`.
-- Safe to repeat: writes work tables only.
--
-- Late windows lie scattered, and those just sealed side by side. Read in one go, a window needs every partition from its own
-- on: so there is an instant before which all are looked up and from which on all are read, and it is where that costs the
-- least. What things cost, beside 1 for a row that is read in sequence: 20 to look into one partition, and 3 for a row found
-- there. Counted from what is on disk and from what Errata has examined: statistics may be wrong or missing.
-- Left to the planner, a thousand windows of 5 minutes in ten days beside 14,400 new ones read 7.3 million rows, in 3.1 s.
with ingested as materialized (
  select
    coalesce(k.event_time_to, 'infinity') as reach,
    pg_relation_size(c.oid)::float8 / current_setting('block_size')::float8
      * case when c.reltuples > 0 and c.relpages > 0 then c.reltuples / c.relpages else 80 end as row_count
  from pg_temp.errata_partition as p
  join pg_catalog.pg_class as c on c.oid = p.relation_id
  left join /*:schema*/errata/*.*/.ingestion_partition as k
    on k.rollup_id = $1::integer
    and k.relation_id = p.relation_id
  where pg_relation_size(c.oid) > 0
),
reached as (
  select i.reach, row_number() over (order by i.reach) as place, sum(i.row_count) as row_count, count(*) as partitions
  from ingested as i
  group by i.reach
),
edge as materialized (
  select array_agg(r.reach order by r.reach) as reaches
  from reached as r
),
-- those that start at or after the `place`th edge and before the next; 0 before the first
bucket as (
  select
    width_bucket(t.window_start, e.reaches) as place,
    count(*) as windows
  from pg_temp.errata_touched as t
  cross join edge as e
  where not t.has_null_key
    and t.is_parted is not true
  group by 1
),
average as (
  select sum(i.row_count) / greatest(
    (select count(*) from pg_temp.errata_touched as t where t.target = 'counted'),
    (
      select pg_relation_size(c.oid)::float8 / current_setting('block_size')::float8
        * case when c.reltuples > 0 and c.relpages > 0 then c.reltuples / c.relpages else 30 end
      from pg_catalog.pg_class as c
      where c.oid = to_regclass(/*:ledger_name*/'gold.daily_orders'/*.*/)
    ),
    1
  ) as row_count
  from ingested as i
),
candidate as (
  select
    n.place,
    coalesce(
      (
        select sum(b.windows * (20 * greatest((select sum(r.partitions) from reached as r where r.place > b.place), 1) + 3 * a.row_count))
        from bucket as b
        where b.place < n.place
      ),
      0
    ) + coalesce((select sum(r.row_count) from reached as r where r.place > n.place), 0) as cost
  from average as a
  cross join edge as e
  cross join generate_series(0, cardinality(e.reaches) + 1) as n (place)
),
chosen as materialized (
  select case when c.place > cardinality(e.reaches) then 'infinity' else coalesce(e.reaches[c.place], '-infinity') end as instant
  from candidate as c
  cross join edge as e
  order by c.cost, c.place
  limit 1
)
update pg_temp.errata_touched as t
set is_looked_up = true
from chosen as c
where not t.has_null_key
  and t.is_parted is not true
  and t.window_start < c.instant
