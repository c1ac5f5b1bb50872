-- Source partitions, each with a watermark of its own (R2): what one run leaves to the next.

-- The first row that moved anything, or the first entry of the log: from here on a declared source partition is silent.
alter table /*:schema*/errata/*.*/.rollup add column first_instant timestamptz;

create table /*:schema*/errata/*.*/.source_partition (
  source_partition_id bigint generated always as identity primary key,
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  -- NULL: the rows whose column is NULL, a source partition like any other
  source_partition text,
  -- declared in the settings, from this instant on
  declared_since timestamptz,
  watermark timestamptz,
  -- its last row, or under `recorded` its last entry
  last_activity timestamptz,
  is_active boolean not null default false,
  -- marked idle in the stream's log, until an entry without a value wakes it
  idle_mark boolean not null default false,
  -- entries whose value lay below an earlier one: they moved nothing
  went_back bigint not null default 0,
  -- rows of exactly the bound: they may share their instant with rows of the next run, which folds them
  carried_at timestamptz,
  carried_watermark timestamptz,
  unique nulls not distinct (rollup_id, source_partition)
);

-- The history of each source partition's own watermark, kept for `combine: own` only: from just after `at` on it stood
-- at `watermark`.
create table /*:schema*/errata/*.*/.source_watermark_step (
  source_partition_id bigint not null references /*:schema*/errata/*.*/.source_partition,
  at timestamptz not null,
  watermark timestamptz not null,
  primary key (source_partition_id, at)
);
