-- The database that the last run saw: a dump restored into another one of the same cluster keeps its tables' names and
-- gives them other oids (R15, R16).
alter table /*:schema*/errata/*.*/.rollup add column database_id oid;
