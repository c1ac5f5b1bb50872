-- Statement: the sweeps of `reconcile` that were on record by then (R14).
--
-- Inputs: pg_temp.errata_statement. Rows out: one a sweep, into pg_temp.errata_stated_sweep. Safe to repeat in another
-- transaction: writes a work table only.
create temp table errata_stated_sweep on commit drop as
select c.*
from pg_temp.errata_statement as b
join /*:schema*/errata/*.*/.reconciliation as c
  on c.rollup_id = b.rollup_id
  and coalesce(c.stored_at, c.swept_at) <= b.stamp
