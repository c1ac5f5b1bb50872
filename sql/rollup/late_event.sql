-- One row an event and window that is late, straggling, quarantined, a conflict, or has a state (R3 to R6).
-- An event that landed open and stayed there needs none. Safe to repeat: it creates what is missing.
create table if not exists /*:late_event*/gold.daily_orders_late_event/*.*/ (
  window_start timestamptz,
  window_end timestamptz,
  local_date date,
  /*:each key*/
  /*:key*/region/*.*/ /*:key_type*/text/*.*/,
  /*:end*/
  event_id text not null,
  event_time timestamptz,
  ingested_at timestamptz,
  arrived_at timestamptz,
  lateness_seconds numeric,
  source_partition text,
  watermark timestamptz,
  landing text,
  state text,
  cause text,
  version integer,
  released boolean not null default false,
  is_conflict boolean not null default false,
  conflicts_with jsonb,
  quarantine_reason text,
  event_count integer not null default 1,
  /*:each measure*/
  /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/,
  /*:end*/
  row_digest text not null,
  first_run_id bigint not null,
  state_run_id bigint,
  state_actor text,
  state_reason text,
  gone_run_id bigint,
  -- set by each run for its transaction
  known_from_run_id bigint default nullif(current_setting('errata.run_id', true), '')::bigint,
  constraint /*:late_event_once*/daily_orders_late_event_once/*.*/ unique nulls not distinct (
    window_start,
    window_end,
    /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id,
    row_digest
  ),
  constraint late_event_landing check (landing in ('open', 'late_firing', 'side_output', 'quarantined')),
  constraint late_event_state check (state in ('pending', 'included', 'waived', 'held')),
  constraint late_event_cause check (cause in ('late_firing', 'straggler', 'refused', 'quarantine_release')),
  constraint late_event_included check ((state = 'included') = (version is not null)),
  -- a row in quarantine belongs to no window, until a person releases it
  constraint late_event_placed check (
    (landing = 'quarantined' and cause is null) = (window_start is null and window_end is null) or landing is null
  )
);

-- For tables made before rows could be released from quarantine.
alter table /*:late_event*/gold.daily_orders_late_event/*.*/ drop constraint if exists late_event_window;

-- For tables made before a change of bronze could be told.
alter table /*:late_event*/gold.daily_orders_late_event/*.*/ add column if not exists gone_run_id bigint;

-- For tables made before past states were kept: since when they stand is not known.
alter table /*:late_event*/gold.daily_orders_late_event/*.*/
  add column if not exists known_from_run_id bigint,
  alter column known_from_run_id set default nullif(current_setting('errata.run_id', true), '')::bigint;

-- What waits is little beside all late events ever seen: of a keyed window it is found without a look at those in its versions. By
-- the window alone, which the unique index above gives, a run by days looked at 420,000 of them to include 952, and at more each day; so
-- where events are joined by keyed window `window_end` is compared by `is not distinct from`, which no index answers.
create index if not exists /*:late_event_waiting*/daily_orders_late_event_waiting/*.*/
  on /*:late_event*/gold.daily_orders_late_event/*.*/ (window_start /*:each key*/ , (array[/*:key*/region/*.*/]) /*:end*/)
  where state in ('pending', 'held', 'waived');
drop index if exists /*:late_event_pending*/gold.daily_orders_late_event_pending/*.*/;
-- Rows that a person let out of quarantine are fewer still, and every run asks for them.
create index if not exists /*:late_event_released*/daily_orders_late_event_released/*.*/
  on /*:late_event*/gold.daily_orders_late_event/*.*/ (row_digest)
  where cause = 'quarantine_release';
-- What a run kept, for its report and for metrics: late events of long ago are not read.
create index if not exists /*:late_event_run*/daily_orders_late_event_run/*.*/
  on /*:late_event*/gold.daily_orders_late_event/*.*/ (first_run_id);
-- Included events that are back in bronze: a run asks for those that it has met.
create index if not exists /*:late_event_back*/daily_orders_late_event_back/*.*/
  on /*:late_event*/gold.daily_orders_late_event/*.*/ (state_run_id)
  where state = 'included' and first_run_id <> state_run_id;
create index if not exists /*:late_event_key*/daily_orders_late_event_key/*.*/
  on /*:late_event*/gold.daily_orders_late_event/*.*/ (window_start, /*:each key*/ (array[/*:key*/region/*.*/]), /*:end*/ event_id);
create index if not exists /*:late_event_by_event*/daily_orders_late_event_by_event/*.*/
  on /*:late_event*/gold.daily_orders_late_event/*.*/ (event_id);
