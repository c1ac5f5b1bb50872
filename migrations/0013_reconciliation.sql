-- What `errata reconcile` found, append-only (R14): a row a sweep; its keyed windows that are not identical in sealed, latest
-- and bronze; and the events that it could name.
create table /*:schema*/errata/*.*/.reconciliation (
  reconciliation_id bigint generated always as identity primary key,
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  period text,
  -- windows that start here, half-open; and whose key columns have these texts; null: every key
  range_from timestamptz not null,
  range_to timestamptz not null,
  key jsonb,
  -- what it saw: one snapshot, the last run and stamp in it, and how far that had examined and sealed
  snapshot pg_snapshot not null,
  run_id bigint,
  stamp timestamptz not null,
  bound timestamptz,
  sealed_until timestamptz,
  swept_at timestamptz not null,
  -- a table of totals kept elsewhere that it was compared with
  against text,
  counts jsonb not null,
  totals jsonb,
  actor text,
  db_role text not null default session_user,
  -- of the keyed windows stored, in the order of window and key
  result_hash bytea not null
);
create index reconciliation_by_rollup on /*:schema*/errata/*.*/.reconciliation (rollup_id, reconciliation_id desc);

create table /*:schema*/errata/*.*/.reconciled_window (
  reconciliation_id bigint not null references /*:schema*/errata/*.*/.reconciliation,
  window_start timestamptz not null,
  window_end timestamptz,
  local_date date,
  -- the texts of the key columns, in their order
  key jsonb not null,
  status text not null check (status in ('identical', 'explained', 'unexplained', 'outside')),
  explained_by text[] not null,
  unexplained text[] not null,
  why text,
  version integer,
  figures jsonb not null,
  -- what the table kept elsewhere says of it
  outside jsonb
);
create index reconciled_window_by_start on /*:schema*/errata/*.*/.reconciled_window (reconciliation_id, window_start);

create table /*:schema*/errata/*.*/.reconciled_event (
  reconciliation_id bigint not null references /*:schema*/errata/*.*/.reconciliation,
  window_start timestamptz not null,
  window_end timestamptz not null,
  key jsonb not null,
  kind text not null,
  event_id text not null,
  detail jsonb not null
);
create index reconciled_event_by_start on /*:schema*/errata/*.*/.reconciled_event (reconciliation_id, window_start);

create function /*:schema*/errata/*.*/.refuse_reconciliation_change ()
returns trigger
language plpgsql
as $errata_guard$
begin
  raise exception using
    errcode = 'integrity_constraint_violation',
    message = format('%s of what was reconciled is refused', lower(tg_op)),
    detail = format('%I.%I is a record: sweeps are appended', tg_table_schema, tg_table_name);
end
$errata_guard$;

create trigger errata_refuse_change before update or delete or truncate on /*:schema*/errata/*.*/.reconciliation
for each statement execute function /*:schema*/errata/*.*/.refuse_reconciliation_change ();
create trigger errata_refuse_change before update or delete or truncate on /*:schema*/errata/*.*/.reconciled_window
for each statement execute function /*:schema*/errata/*.*/.refuse_reconciliation_change ();
create trigger errata_refuse_change before update or delete or truncate on /*:schema*/errata/*.*/.reconciled_event
for each statement execute function /*:schema*/errata/*.*/.refuse_reconciliation_change ();

-- under session_replication_role = replica too
alter table /*:schema*/errata/*.*/.reconciliation enable always trigger errata_refuse_change;
alter table /*:schema*/errata/*.*/.reconciled_window enable always trigger errata_refuse_change;
alter table /*:schema*/errata/*.*/.reconciled_event enable always trigger errata_refuse_change;

-- Nothing of Errata's is everyone's.
revoke execute on function /*:schema*/errata/*.*/.refuse_reconciliation_change () from public;
