-- Classify, sessions: join the new rows to the sessions of their keys, in the order of ingestion (R6s).
--
-- $1 frontier: rows before it are stragglers; null before the first run
-- $2 regroups: boolean; the policy publishes refused rows by itself, so they regroup at their own place
-- $3 run_id: bigint
--
-- Rows out: one. Side effect: pg_temp.errata_joined. Not safe to repeat: a row joins once, arrivals.sql sees to it.
select /*:fold_sessions*/errata.daily_orders_fold_sessions/*.*/ (
  coalesce($1::timestamptz, '-infinity'), $2::boolean, $3::bigint
)
