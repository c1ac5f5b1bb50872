-- As of an instant: the work tables are whole. Several statements; rows out: none. Safe to repeat in another transaction: it
-- touches work tables only.
create index on pg_temp.errata_stated_event (window_start, window_end);
create index on pg_temp.errata_stated_proposal (window_start, window_end);
analyze pg_temp.errata_stated_event;
analyze pg_temp.errata_stated_proposal;
