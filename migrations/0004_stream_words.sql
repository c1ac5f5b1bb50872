-- What the stream says beside its totals (R2): the rows that it refused.

-- An entry of the stream's table of refused rows, each once, however often it was written. NULL: the table does not say.
create table /*:schema*/errata/*.*/.refused_entry (
  refused_entry_id bigint generated always as identity primary key,
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  -- as text, as bronze's own
  event_id text,
  event_time timestamptz,
  window_start timestamptz,
  window_end timestamptz,
  watermark timestamptz,
  refused_at timestamptz,
  first_run_id bigint not null references /*:schema*/errata/*.*/.run,
  -- the run that found its row in bronze; NULL: the entry waits
  found_run_id bigint references /*:schema*/errata/*.*/.run,
  -- what its row was judged; `copy`: the row counts nowhere
  landing text check (landing in ('open', 'late_firing', 'side_output', 'quarantined', 'copy')),
  check ((found_run_id is null) = (landing is null)),
  unique nulls not distinct (rollup_id, event_id, event_time, window_start, window_end)
);
create index refused_entry_waiting on /*:schema*/errata/*.*/.refused_entry (rollup_id) where found_run_id is null;

-- What a log of watermarks says beside them, a source partition.
alter table /*:schema*/errata/*.*/.source_partition
  -- entries of its log in the day before the frontier, when the last run read it; NULL: not counted yet
  add column log_entries bigint,
  -- entries that appeared in that day only later: they moved nothing
  add column came_behind bigint not null default 0,
  -- the counter of dropped rows in its last entry that has one, and how many that makes over all restarts of the counter
  add column dropped bigint,
  add column dropped_total bigint not null default 0;
