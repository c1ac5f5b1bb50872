-- Statement, corrections: the versions beside version 1, for people to read.
--
-- Inputs: the view of versions. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_corrections as
select c.*
from pg_temp.errata_stated_versions as c
where c.version > 1
