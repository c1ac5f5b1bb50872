-- Statement: the work tables are whole. Several statements; rows out: none. Safe to repeat in another transaction: it
-- touches work tables only.
-- by which the definition of `_reconciliation` looks a keyed window up, as that of the ledger
create index on pg_temp.errata_stated_version (window_start, /*:each key*/ (array[/*:key*/region/*.*/]), /*:end*/ version);
analyze pg_temp.errata_stated_version;
analyze pg_temp.errata_stated_sweep;
