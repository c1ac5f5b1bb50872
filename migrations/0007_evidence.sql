-- Evidence (R21): beside `previous_hash` and `hash`, what a link of the chain covers. NULL: the run is no link.
alter table /*:schema*/errata/*.*/.run
  -- how many versions it hashed, and the hash of their hashes
  add column versions_hashed bigint,
  add column rows_hash bytea,
  add constraint run_link check (num_nulls(hash, rows_hash, versions_hashed) in (0, 3));
create index run_links on /*:schema*/errata/*.*/.run (rollup_id, run_id desc) where hash is not null;
