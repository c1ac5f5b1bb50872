-- Rows between bounds of lateness. Rows out: one a bound, in order: how many rows are later than it and no later than
-- the next, and how many are later than it at all.
--
-- $1 bounds: bigint[], microseconds, ascending; below all of them is left out
--
-- Inputs: pg_temp.errata_lateness. Safe to repeat: it reads.
with counted as (
  -- "later than" and not "at least": hence one microsecond less
  select width_bucket(c.errata_lateness - 1, $1::bigint[]) as place, count(*) as rows
  from pg_temp.errata_lateness as c
  where c.errata_lateness is not null
  group by 1
),
total as (
  select sum(n.rows) as rows from counted as n
)
select
  b.bound::text as bound,
  coalesce(n.rows, 0)::text as rows,
  trim_scale(round(coalesce(n.rows, 0) / t.rows, 10))::text as share,
  (sum(coalesce(n.rows, 0)) over later)::text as later_rows,
  trim_scale(round(sum(coalesce(n.rows, 0)) over later / t.rows, 10))::text as later_share
from unnest($1::bigint[]) with ordinality as b (bound, place)
cross join total as t
left join counted as n on n.place = b.place
window later as (order by b.place desc)
order by b.place
