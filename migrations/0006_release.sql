-- A person may let rows out of quarantine: the run that follows bears the verb `release`. Whatever verbs were allowed
-- before stay allowed.
do $errata_migration$
declare
  errata_check text;
begin
  select pg_get_constraintdef(c.oid) into strict errata_check
  from pg_catalog.pg_constraint as c
  where c.conrelid = '/*:schema*/errata/*.*/.run'::regclass and c.conname = 'run_verb_check';
  execute 'alter table /*:schema*/errata/*.*/.run drop constraint run_verb_check';
  execute format(
    'alter table /*:schema*/errata/*.*/.run add constraint run_verb_check check ((%s) or verb = ''release'')',
    regexp_replace(errata_check, '^CHECK ', '')
  );
end
$errata_migration$;
