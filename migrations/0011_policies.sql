-- What a person decides: proposals are approved or rejected, windows restated, events waived; the run that does it bears
-- the verb. Whatever verbs were allowed before stay allowed.
do $errata_migration$
declare
  errata_check text;
begin
  select pg_get_constraintdef(c.oid) into strict errata_check
  from pg_catalog.pg_constraint as c
  where c.conrelid = '/*:schema*/errata/*.*/.run'::regclass and c.conname = 'run_verb_check';
  execute 'alter table /*:schema*/errata/*.*/.run drop constraint run_verb_check';
  execute format(
    'alter table /*:schema*/errata/*.*/.run add constraint run_verb_check check ((%s) or verb in (''approve'', ''reject'', ''restate'', ''waive''))',
    regexp_replace(errata_check, '^CHECK ', '')
  );
end
$errata_migration$;

alter table /*:schema*/errata/*.*/.proposal
  add column decided_run_id bigint,
  -- Of a rejected one that no event explains: what bronze gives, which stays set aside until it gives something else.
  add column rejected_measures jsonb,
  add column rejected_event_count bigint;

-- What stands of a keyed window: asked by every run for the windows that it takes, and by the views.
create index proposal_standing on /*:schema*/errata/*.*/.proposal (rollup_id, window_start, window_end)
where state = 'open' or rejected_measures is not null;
