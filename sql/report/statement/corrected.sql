-- Statement: of each keyed window the latest version, and the causes of all. Several statements; rows out: one a keyed window,
-- into pg_temp.errata_stated_latest. Safe to repeat in another transaction: writes a work table only.
--
-- In one pass: joined by the index of the windows, 3,226 keys of a window are each compared with each other. Inputs:
-- pg_temp.errata_stated_version, errata_stated_reconciled.
create temp table errata_stated_latest on commit drop as
select
  g.window_start,
  g.window_end,
  /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  array_agg(distinct c.cause order by c.cause) filter (where c.cause is not null) as causes,
  (array_agg(g.stamp order by g.version desc))[1] as stamp,
  (array_agg(g.is_void order by g.version desc))[1] as is_void,
  (array_agg(g.errata_row_hash order by g.version desc))[1] as errata_row_hash
from pg_temp.errata_stated_version as g
left join lateral unnest(g.causes) as c (cause) on true
group by g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/;

analyze pg_temp.errata_stated_latest;
analyze pg_temp.errata_stated_reconciled;
