-- What people did to a rollup as a whole: paused, resumed, renamed, dropped. Append-only: the last act is its state.
create table /*:schema*/errata/*.*/.rollup_act (
  act_id bigint generated always as identity primary key,
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  act text not null check (act in ('pause', 'resume', 'rename', 'drop')),
  -- the name that the rollup had before, and has from then on
  old_name text not null,
  new_name text not null,
  actor text not null,
  reason text not null,
  db_role text not null default session_user,
  acted_at timestamptz not null
);
create index rollup_act_by_rollup on /*:schema*/errata/*.*/.rollup_act (rollup_id, act_id desc);

create function /*:schema*/errata/*.*/.refuse_act_change ()
returns trigger
language plpgsql
as $errata_guard$
begin
  raise exception using
    errcode = 'integrity_constraint_violation',
    message = format('%s of what was done to a rollup is refused', lower(tg_op)),
    detail = format('%I.%I is a record: acts are appended', tg_table_schema, tg_table_name);
end
$errata_guard$;

create trigger errata_refuse_change
before update or delete or truncate on /*:schema*/errata/*.*/.rollup_act
for each statement execute function /*:schema*/errata/*.*/.refuse_act_change ();

-- Its ledger stays, and takes nothing more.
alter table /*:schema*/errata/*.*/.rollup add column dropped_at timestamptz;
