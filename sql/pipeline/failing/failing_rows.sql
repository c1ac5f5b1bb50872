-- Failing: the rows whose own contributions cannot be computed (R19). They are kept by name without.
--
-- Inputs: pg_temp.errata_probed, pg_temp.errata_counted. Rows out: one a row, into pg_temp.errata_failing_row.
-- Safe to repeat: writes work tables only.
insert into pg_temp.errata_failing_row (row_digest, error)
select r.errata_row_digest, p.error
from pg_temp.errata_probed as p
join pg_temp.errata_counted as r on r.errata_place = p.place
where not exists (select from pg_temp.errata_failing_row as f where f.row_digest = r.errata_row_digest)
