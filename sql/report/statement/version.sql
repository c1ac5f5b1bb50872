-- Statement: the versions of the period that were published by then, with their hashes (R11, R21).
--
-- $1 stamp: what was known then
-- $2 period_start, $3 period_end: timestamptz
--
-- The hash is computed from the row, not taken from the evidence: of a stream's version that stands there only from the
-- next run on. Rows out: one a version, into pg_temp.errata_stated_version. Safe to repeat in
-- another transaction: writes a work table only.
create temp table errata_stated_version on commit drop as
select g.*, /*:row_hash*/sha256(convert_to(g.revenue::text, 'UTF8'))/*.*/ as errata_row_hash
from /*:ledger*/gold.daily_orders/*.*/ as g
where g.stamp <= $1::timestamptz
  and g.window_start >= $2::timestamptz
  and g.window_start < $3::timestamptz
