-- The ledger of one rollup: one row a keyed window and version.
-- Rows out: none. Safe to repeat: it creates what is missing and touches no row.
create table if not exists /*:ledger*/gold.daily_orders/*.*/ (
  window_start timestamptz not null,
  window_end timestamptz not null,
  local_date date,
  /*:each key*/
  /*:key*/region/*.*/ /*:key_type*/text/*.*/,
  /*:end*/
  version integer not null default 1,
  /*:each measure*/
  /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/,
  /*:end*/
  event_count bigint,
  is_void boolean not null default false,
  kind text not null default 'seal',
  causes text[] not null default '{}',
  reason text,
  actor text,
  db_role text not null default current_user,
  approver text,
  run_id bigint,
  stamp timestamptz not null,
  sealed_at timestamptz,
  corrected_at timestamptz,
  posting_period text,
  replaces jsonb,
  definition_fingerprint text,
  constraint /*:ledger_version_key*/daily_orders_version_key/*.*/ unique nulls not distinct (
    window_start,
    window_end,
    /*:each key*/ /*:key*/region/*.*/, /*:end*/
    version
  ),
  constraint ledger_window check (window_start < window_end),
  constraint ledger_version check (version >= 1),
  constraint ledger_kind check (kind in ('seal', 'correction', 'restatement', 'adjustment')),
  constraint ledger_seal check ((version = 1) = (kind = 'seal')),
  constraint ledger_stamp check (
    case when version = 1 then sealed_at = stamp and corrected_at is null else corrected_at = stamp end
  ),
  constraint ledger_void check (not is_void or (version > 1 and event_count = 0))
);

-- The last versions of a rollup's run, for status and for what changed since.
create index if not exists /*:ledger_by_run*/daily_orders_by_run/*.*/ on /*:ledger*/gold.daily_orders/*.*/ (run_id);
-- By which every stage looks a keyed window up: its key may be NULL, so keys are compared as arrays. By the window alone a day
-- of 50,000 keys was read whole for each of them; and what ANALYZE learns of the arrays tells the planner how many there are.
create index if not exists /*:ledger_by_key*/daily_orders_by_key/*.*/
  on /*:ledger*/gold.daily_orders/*.*/ (window_start, /*:each key*/ (array[/*:key*/region/*.*/]), /*:end*/ version);
