-- How lateness is spread, in seconds: over all rows, or over those of a source partition, a key or a day of arrival
-- each. Rows out: one a group, at most $1, in the order that fits the grouping; `groups` counts them all.
--
-- $1 at_most: integer
--
-- Inputs: pg_temp.errata_lateness. A group whose rows are all set aside has no percentiles.
-- Safe to repeat: it reads.
select
  s.name,
  s.rows::text as rows,
  s.set_aside::text as set_aside,
  trim_scale(s.p[1] / 1000000.0)::text as p50,
  trim_scale(s.p[2] / 1000000.0)::text as p90,
  trim_scale(s.p[3] / 1000000.0)::text as p95,
  trim_scale(s.p[4] / 1000000.0)::text as p99,
  trim_scale(s.p[5] / 1000000.0)::text as p999,
  trim_scale(s.most / 1000000.0)::text as max,
  s.negative::text as negative,
  trim_scale(round(s.negative / nullif(s.rows, 0)::numeric, 10))::text as negative_share,
  count(*) over ()::text as groups
from (
  select
    /*:group_name*/jsonb_build_object('region', c.region::text)/*.*/ as name,
    /*:group_order*/c.region/*.*/ as place,
    count(c.errata_lateness) as rows,
    count(c.errata_set_aside) as set_aside,
    percentile_disc(array[0.5, 0.9, 0.95, 0.99, 0.999]) within group (order by c.errata_lateness) as p,
    max(c.errata_lateness) as most,
    count(*) filter (where c.errata_lateness < 0) as negative
  from pg_temp.errata_lateness as c
  group by /*:group_by*/c.region/*.*/
) as s
order by s.place desc nulls last, s.rows desc, s.name
limit $1::integer
