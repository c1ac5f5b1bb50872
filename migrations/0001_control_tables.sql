-- The control tables: what Errata knows of its rollups, its runs and the bronze it has read.
-- They are private; what people read are the relations named after each rollup (sql/rollup/).

create table /*:schema*/errata/*.*/.definition (
  fingerprint text primary key,
  rollup text not null,
  definition jsonb not null,
  first_applied_at timestamptz not null
);

create table /*:schema*/errata/*.*/.rollup (
  rollup_id integer generated always as identity primary key,
  name text not null unique,
  gold_schema text not null,
  gold_name text not null,
  definition_fingerprint text not null references /*:schema*/errata/*.*/.definition,
  seal_by text not null check (seal_by in ('errata', 'stream', 'table')),
  allowed_lateness interval not null,
  -- R15: bronze holds every event of windows that start at or after this instant
  complete_from timestamptz not null,
  complete_from_source text not null check (complete_from_source in ('setting', 'partition', 'first_ingestion', 'empty')),
  -- R6: the greatest bound so far
  frontier timestamptz,
  -- R8: the watermark that sealed; every window that ends at or before it is sealed
  sealed_until timestamptz,
  -- R11: as_of(t) answers for t up to here
  settled_until timestamptz not null default '-infinity',
  last_stamp timestamptz not null default '-infinity',
  system_identifier bigint,
  created_at timestamptz not null,
  unique (gold_schema, gold_name)
);

create table /*:schema*/errata/*.*/.run (
  run_id bigint generated always as identity primary key,
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  verb text not null check (verb in ('run', 'publish', 'baseline')),
  outcome text not null check (outcome in ('running', 'done', 'attention', 'failed')),
  started_at timestamptz not null,
  finished_at timestamptz,
  bound timestamptz,
  snapshot pg_snapshot,
  -- the transaction that publishes: rows of the ledger that name this run are accepted from no other
  publishing_transaction xid8,
  stamp timestamptz,
  actor text,
  reason text,
  db_role text not null default current_user,
  counts jsonb not null default '{}',
  stage_milliseconds jsonb not null default '{}',
  failure jsonb,
  -- R21: the digest of what the run published, chained to the run before
  previous_hash bytea,
  hash bytea
);
create index run_by_rollup on /*:schema*/errata/*.*/.run (rollup_id, run_id desc);

-- What each ingestion partition (or the whole table, where it has none) was when it was last read (R16).
create table /*:schema*/errata/*.*/.ingestion_partition (
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  relation_id oid not null,
  relation text not null,
  bounds text,
  -- rows of transactions before this one were all visible then
  horizon xid8,
  -- and so were those of these later ones
  seen int8multirange not null default '{}',
  bound timestamptz,
  -- the earliest ingested_at beyond the bound: those rows wait for their time
  deferred_from timestamptz,
  -- what says cheaply whether anything was written since
  activity text,
  rows_examined bigint not null default 0,
  event_time_from timestamptz,
  event_time_to timestamptz,
  first_examined_at timestamptz,
  last_examined_at timestamptz,
  gone_at timestamptz,
  primary key (rollup_id, relation_id)
);

-- The history of the combined watermark: from just after `at` on it stood at `watermark` (R2, R6).
create table /*:schema*/errata/*.*/.watermark_step (
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  at timestamptz not null,
  watermark timestamptz not null,
  primary key (rollup_id, at)
);

-- Versions that wait for a person's word (R10).
create table /*:schema*/errata/*.*/.proposal (
  proposal_id bigint generated always as identity primary key,
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  run_id bigint not null references /*:schema*/errata/*.*/.run,
  window_start timestamptz not null,
  window_end timestamptz not null,
  key jsonb not null,
  base_version integer not null,
  measures jsonb not null,
  event_count bigint not null,
  causes text[] not null,
  why text not null,
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'stale')),
  proposed_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  decided_reason text
);

-- A span of windows and what was done to it, append-only: the last act of a period is its state (R12).
create table /*:schema*/errata/*.*/.period_act (
  act_id bigint generated always as identity primary key,
  rollup_id integer references /*:schema*/errata/*.*/.rollup,
  period text not null,
  period_start timestamptz not null,
  period_end timestamptz not null,
  act text not null check (act in ('soft_close', 'hard_close', 'reopen')),
  actor text not null,
  reason text,
  expires_at timestamptz,
  acted_at timestamptz not null
);

-- A named stamp.
create table /*:schema*/errata/*.*/.mark (
  name text primary key,
  stamp timestamptz not null,
  actor text not null,
  made_at timestamptz not null
);

-- Notices of what a run changed, written in the commit that changed it.
create table /*:schema*/errata/*.*/.outbox (
  notice_id bigint generated always as identity primary key,
  run_id bigint not null references /*:schema*/errata/*.*/.run,
  notice jsonb not null,
  delivered_at timestamptz
);
