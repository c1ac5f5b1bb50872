-- Statement: what the reconciliation view gives over the versions and states of then (R14).
--
-- By itself, and analysed afterwards: joined as a view its rows are estimated at a handful, and 100,000 keyed windows took more
-- than eight minutes. Inputs: the work tables. Rows out: one a keyed window, into pg_temp.errata_stated_reconciled. Safe to
-- repeat in another transaction: writes a work table only.
create temp table errata_stated_reconciled on commit drop as
select c.*
from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as c
