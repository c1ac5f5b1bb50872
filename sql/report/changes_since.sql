-- Keyed windows that got a correction since an instant: what was published then, and what is now (R9, R11). Rows out: one a
-- keyed window, at most $3, the latest window first.
--
-- $1 since: instant; versions stamped later count
-- $2 run_id: bigint; only what this run changed, beside what stood before it; null for all
-- $3 at_most: integer
-- $4 until: instant; versions stamped later do not count. Null: all do
--
-- Corrections name the run that published them, and the index over runs finds them: the cost follows what changed. Version
-- 1 of a further window changes no number that had shipped. A keyed window is
-- looked up by `=`, which the index serves, and by NULL apart: as arrays of the key each look-up read all keys of its window. On
-- 5 million versions (45,000 hours of 100 keys, PostgreSQL 18, 2 cores under a load of 10) the 1,040 that one run changed took
-- 0.2 s and 14,871 pages, before 1.25 s and 257,699. Rejected: one read of each touched window joined back by key, which the
-- planner takes for one row and compares all with all (not done after 150 s). Safe to repeat: it reads.
with corrected as (
  select distinct g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.run_id in (
      select r.run_id
      from /*:schema*/errata/*.*/.run as r
      where r.rollup_id = /*:rollup_id*/1/*.*/
        and r.stamp > $1::timestamptz
        and (r.stamp <= $4::timestamptz or $4::timestamptz is null)
        and (r.run_id = $2::bigint or $2::bigint is null)
    )
    and g.version > 1
)
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.old_version,
  c.new_version,
  c.is_void,
  c.causes,
  c.runs,
  c.stamp::text as stamp,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(c./*:old_measure*/old_revenue/*.*/::text, c./*:measure*/revenue/*.*/::text)) /*:end*/ as measures,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, (/*:difference_value*/coalesce(c.revenue, 0) - coalesce(c.old_revenue, 0)/*.*/)::text) /*:end*/ as deltas
from (
  select
    k.window_start,
    k.window_end,
    n.local_date,
    /*:each key*/ k./*:key*/region/*.*/, /*:end*/
    o.version as old_version,
    n.version as new_version,
    n.is_void,
    n.stamp,
    /*:each measure*/ n./*:measure*/revenue/*.*/, o./*:measure*/revenue/*.*/ as /*:old_measure*/old_revenue/*.*/, /*:end*/
    b.causes,
    b.runs
  from corrected as k
  cross join lateral (
    select g.*
    from (
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ = k./*:key*/region/*.*/ /*:end*/
      union all
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where (false /*:each key*/ or k./*:key*/region/*.*/ is null /*:end*/)
        and g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ is not distinct from k./*:key*/region/*.*/ /*:end*/
    ) as g
    where (g.run_id = $2::bigint or $2::bigint is null)
      and (g.stamp <= $4::timestamptz or $4::timestamptz is null)
    order by g.version desc
    limit 1
  ) as n
  left join lateral (
    select g.*
    from (
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ = k./*:key*/region/*.*/ /*:end*/
      union all
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where (false /*:each key*/ or k./*:key*/region/*.*/ is null /*:end*/)
        and g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ is not distinct from k./*:key*/region/*.*/ /*:end*/
    ) as g
    where case when $2::bigint is null then g.stamp <= $1::timestamptz else g.version < n.version end
    order by g.version desc
    limit 1
  ) as o on true
  cross join lateral (
    select
      array_agg(distinct u.cause) filter (where u.cause is not null) as causes,
      array_agg(distinct g.run_id::text) as runs
    from (
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ = k./*:key*/region/*.*/ /*:end*/
      union all
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where (false /*:each key*/ or k./*:key*/region/*.*/ is null /*:end*/)
        and g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ is not distinct from k./*:key*/region/*.*/ /*:end*/
    ) as g
    left join lateral unnest(g.causes) as u (cause) on true
    where g.version > greatest(o.version, 1)
      and g.version <= n.version
  ) as b
) as c
order by c.window_start desc, c.window_end desc /*:each key*/ , c./*:key*/region/*.*/::text collate "C" nulls first /*:end*/
limit $3::integer
