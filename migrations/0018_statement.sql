-- What a statement of an earlier instant needs (R11, R12): which states late events and proposals had then, which definition
-- was in force, and which sweeps were on record.

-- What is known of states before this instant is only what they are now.
alter table /*:schema*/errata/*.*/.rollup add column states_since timestamptz not null default '-infinity';
update /*:schema*/errata/*.*/.rollup set states_since = greatest(last_stamp, settled_until);

-- A proposal as it stood before a run changed it. `known_from_run_id`: the run that had made it so; null: the one that proposed.
alter table /*:schema*/errata/*.*/.proposal add column known_from_run_id bigint;
create table /*:schema*/errata/*.*/.past_proposal (
  like /*:schema*/errata/*.*/.proposal,
  until_run_id bigint not null
);
create index past_proposal_by_start on /*:schema*/errata/*.*/.past_proposal (rollup_id, window_start);

create function /*:schema*/errata/*.*/.keep_past_proposal ()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $errata_past$
declare
  -- set by each run for its transaction
  errata_run constant bigint := nullif(current_setting('errata.run_id', true), '')::bigint;
begin
  if errata_run is null then
    return new;
  end if;
  if coalesce(old.known_from_run_id, old.run_id) <> errata_run then
    insert into /*:schema*/errata/*.*/.past_proposal (
      proposal_id, rollup_id, run_id, window_start, window_end, key, base_version, measures, event_count, causes, why, state,
      proposed_at, decided_at, decided_by, decided_reason, decided_run_id, rejected_measures, rejected_event_count, is_held,
      replaces, replaced_by, known_from_run_id, until_run_id
    )
    values (
      old.proposal_id, old.rollup_id, old.run_id, old.window_start, old.window_end, old.key, old.base_version, old.measures,
      old.event_count, old.causes, old.why, old.state, old.proposed_at, old.decided_at, old.decided_by, old.decided_reason,
      old.decided_run_id, old.rejected_measures, old.rejected_event_count, old.is_held,
      old.replaces, old.replaced_by, old.known_from_run_id, errata_run
    );
  end if;
  new.known_from_run_id := errata_run;
  return new;
end
$errata_past$;
revoke execute on function /*:schema*/errata/*.*/.keep_past_proposal () from public;

create trigger errata_keep_past before update on /*:schema*/errata/*.*/.proposal
for each row execute function /*:schema*/errata/*.*/.keep_past_proposal ();

-- Which definition a rollup had from when on. Of what was applied before, only the first time of each is known.
create table /*:schema*/errata/*.*/.applied_definition (
  applied_id bigint generated always as identity primary key,
  rollup_id integer not null,
  definition_fingerprint text not null references /*:schema*/errata/*.*/.definition,
  applied_at timestamptz not null
);
insert into /*:schema*/errata/*.*/.applied_definition (rollup_id, definition_fingerprint, applied_at)
select r.rollup_id, d.fingerprint, d.first_applied_at
from /*:schema*/errata/*.*/.rollup as r
join /*:schema*/errata/*.*/.definition as d
  on d.fingerprint = r.definition_fingerprint or d.definition ->> 'gold' = r.gold_schema || '.' || r.gold_name
order by r.rollup_id, d.fingerprint = r.definition_fingerprint, d.first_applied_at;

-- A sweep may take minutes: what counts is when its result was there. Of older sweeps `swept_at` serves.
alter table /*:schema*/errata/*.*/.reconciliation add column stored_at timestamptz;
alter table /*:schema*/errata/*.*/.reconciliation alter column stored_at set default clock_timestamp();
