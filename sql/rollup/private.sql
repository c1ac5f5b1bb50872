-- What Errata keeps for one rollup beside its public relations, typed by its key. Safe to repeat.

-- The queue: keyed windows whose published value may now be wrong.
create table if not exists /*:touched*/errata.daily_orders_touched/*.*/ (
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  cause text not null,
  since timestamptz not null,
  blocked_reason text,
  -- R19: a measure of it could not be computed, by so many runs in succession, the last of them this one
  tries integer not null default 0,
  error text,
  failed_run_id bigint,
  constraint /*:touched_once*/daily_orders_touched_once/*.*/ unique nulls not distinct (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause
  )
);

-- For queues made before a failing window could be set aside.
alter table /*:touched*/errata.daily_orders_touched/*.*/
  add column if not exists tries integer not null default 0,
  add column if not exists error text,
  add column if not exists failed_run_id bigint;

-- Keyed windows whose bronze rows were deleted or changed, as the optional trigger notes them, and a run where an event
-- with a state looks otherwise now. Nothing here is unique: a writer of bronze never waits for another or for a run, and
-- a note that comes after a run's snapshot outlives it.
create table if not exists /*:source_change*/errata.daily_orders_source_change/*.*/ (
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  since timestamptz not null
);

-- Further rows with an event id already seen in the window (R5). Found once, when they are examined; a version never
-- counts them, so that a copy examined later displaces nothing.
create table if not exists /*:copy*/errata.daily_orders_copy/*.*/ (
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  event_id text not null,
  ingested_at timestamptz not null,
  row_digest text not null,
  -- the row that counts has these very values too
  is_identical boolean not null,
  copies bigint not null,
  constraint /*:copy_once*/daily_orders_copy_once/*.*/ unique nulls not distinct (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at, row_digest
  )
);

-- Emissions of the stream that did not enter the ledger: late seals, and later values for a sealed keyed window (R8).
create table if not exists /*:emission*/errata.daily_orders_emission/*.*/ (
  emission_id bigint generated always as identity primary key,
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  /*:each measure*/ /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/, /*:end*/
  event_count bigint,
  kind text not null check (kind in ('late_seal', 'later_emission')),
  received_at timestamptz not null,
  run_id bigint
);
create index if not exists /*:emission_by_key*/daily_orders_emission_by_key/*.*/
  on /*:emission*/errata.daily_orders_emission/*.*/ (window_start, /*:each key*/ (array[/*:key*/region/*.*/]), /*:end*/ emission_id);
-- For tables made when it was by the window alone: a stream that said all keys of a window anew read all of them for each.
drop index if exists /*:emission_by_window*/errata.daily_orders_emission_by_window/*.*/;
