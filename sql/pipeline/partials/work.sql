-- Partials: the work tables of a run. They live until its commit, as those of begin/work.sql.
-- Several statements; rows out: none.

-- The ingestion partitions of bronze. Closed: nothing lands in it any more, and no other takes rows of its time. Covered: its
-- partials are those of the rows that this run's snapshot shows.
create temp table errata_ingested (
  relation_id oid not null,
  ingested_from timestamptz not null,
  ingested_to timestamptz not null,
  is_closed boolean not null,
  is_covered boolean not null,
  is_failed boolean not null
) on commit drop;

-- Partials of the touched keyed windows, for each set of rows that is asked for. Left: rows of the partition are left out of the set, or are other copies than
-- when it was kept; it is not used.
create temp table errata_partial on commit drop as
select 'counted'::text as target, p.*, false as is_left
from /*:partial*/errata.daily_orders_partial/*.*/ as p
where false;

-- Parts of the measures of the keyed windows that became sealed.
create temp table errata_sealing_part on commit drop as
select s.*
from pg_temp.errata_sealing_result as s
where false;

-- What is read from bronze of a keyed window that has partials: its rows of a stretch of ingestion.
create temp table errata_stretch on commit drop as
select
  t.target, t.window_start, t.window_end, /*:each key*/ t./*:key*/region/*.*/, /*:end*/
  t.has_null_key, t.has_left_out, t.is_looked_up, t.is_parted, null::timestamptz as ingested_from, null::timestamptz as ingested_to,
  -- how many rows a look-up finds; null where the stretch may hold most of the window
  0::bigint as expected
from pg_temp.errata_touched as t
where false;

create temp table errata_stretch_result on commit drop as
select n.*
from pg_temp.errata_result as n
where false;
