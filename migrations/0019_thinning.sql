-- Runs that changed nothing and to which nothing refers leave the record when their time is up. Each run looks at the next few,
-- so it remembers how far they have been gone through.
alter table /*:schema*/errata/*.*/.rollup add column thinned_run_id bigint not null default 0;

-- Who refers to a run is found without a scan, by whoever deletes one and by the foreign keys.
create index proposal_by_run on /*:schema*/errata/*.*/.proposal (run_id);
create index outbox_by_run on /*:schema*/errata/*.*/.outbox (run_id);
create index period_act_by_run on /*:schema*/errata/*.*/.period_act (run_id) where run_id is not null;
create index refused_entry_by_first_run on /*:schema*/errata/*.*/.refused_entry (first_run_id);
create index refused_entry_by_finding_run on /*:schema*/errata/*.*/.refused_entry (found_run_id) where found_run_id is not null;
create index reconciliation_by_run on /*:schema*/errata/*.*/.reconciliation (run_id) where run_id is not null;
-- and whether a failure was the last
create index run_failure on /*:schema*/errata/*.*/.run (rollup_id, run_id) where outcome = 'failed';

-- The watermark's history, too, is gone through from its beginning (R6).
alter table /*:schema*/errata/*.*/.rollup add column steps_thinned_until timestamptz not null default '-infinity';
alter table /*:schema*/errata/*.*/.source_partition add column steps_thinned_until timestamptz not null default '-infinity';
