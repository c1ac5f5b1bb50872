-- Periods are closed and reopened (R12); the run that does it bears the verb. Whatever verbs were allowed before stay allowed.
do $errata_migration$
declare
  errata_check text;
begin
  select pg_get_constraintdef(c.oid) into strict errata_check
  from pg_catalog.pg_constraint as c
  where c.conrelid = '/*:schema*/errata/*.*/.run'::regclass and c.conname = 'run_verb_check';
  execute 'alter table /*:schema*/errata/*.*/.run drop constraint run_verb_check';
  execute format(
    'alter table /*:schema*/errata/*.*/.run add constraint run_verb_check check ((%s) or verb in (''close'', ''reopen''))',
    regexp_replace(errata_check, '^CHECK ', '')
  );
end
$errata_migration$;

-- `acted_at` is the stamp of the run.
alter table /*:schema*/errata/*.*/.period_act
  add column run_id bigint references /*:schema*/errata/*.*/.run,
  add column db_role text not null default session_user,
  -- closed though windows of it were not sealed
  add column is_forced boolean not null default false,
  -- of a soft close: whose members publish adjustments
  add column posting_role text,
  add constraint period_act_expires check ((act = 'reopen') = (expires_at is not null)),
  add constraint period_act_role check ((act = 'soft_close') = (posting_role is not null));
create index period_act_by_start on /*:schema*/errata/*.*/.period_act (rollup_id, period_start);

-- The closed statement: what a period came to when it was closed, by key; measures that add up.
create table /*:schema*/errata/*.*/.period_total (
  act_id bigint not null references /*:schema*/errata/*.*/.period_act,
  key jsonb not null,
  keyed_windows bigint not null,
  measures jsonb not null,
  -- with what was pending, held or waived at that time
  restated jsonb not null,
  primary key (act_id, key)
);

alter table /*:schema*/errata/*.*/.mark add column rollup_id integer references /*:schema*/errata/*.*/.rollup;

-- A difference in a closed period is held: proposed, and published by a person as an adjustment.
alter table /*:schema*/errata/*.*/.proposal add column is_held boolean not null default false;

create function /*:schema*/errata/*.*/.refuse_period_change ()
returns trigger
language plpgsql
as $errata_guard$
begin
  raise exception using
    errcode = 'integrity_constraint_violation',
    message = format('%s of what a period was closed with is refused', lower(tg_op)),
    detail = format('%I.%I is a record: acts are appended', tg_table_schema, tg_table_name);
end
$errata_guard$;

create trigger errata_refuse_change
before update or delete or truncate on /*:schema*/errata/*.*/.period_act
for each statement execute function /*:schema*/errata/*.*/.refuse_period_change ();
create trigger errata_refuse_change
before update or delete or truncate on /*:schema*/errata/*.*/.period_total
for each statement execute function /*:schema*/errata/*.*/.refuse_period_change ();
create trigger errata_refuse_change
before update or delete or truncate on /*:schema*/errata/*.*/.mark
for each statement execute function /*:schema*/errata/*.*/.refuse_period_change ();

-- Nothing of Errata's is everyone's.
revoke execute on function /*:schema*/errata/*.*/.refuse_period_change () from public;
