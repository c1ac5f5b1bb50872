-- Classify, sessions: join the new rows to the sessions of their keys, in the order of ingestion (R6s).
--
-- $1 lateness: interval, the allowed one
-- $2 sealed_before: the watermark that sealed in earlier runs; null before the first
-- $3 frontier: rows before it are stragglers; null before the first run
-- $4 regroups: boolean; the policy publishes refused rows by itself, so they regroup at their own place
-- $5 run_id: bigint
--
-- Rows out: one. Side effect: pg_temp.errata_joined. Not safe to repeat: a row joins once, arrivals.sql sees to it.
select /*:fold_sessions*/errata.daily_orders_fold_sessions/*.*/ (
  $1::interval, coalesce($2::timestamptz, '-infinity'), coalesce($3::timestamptz, '-infinity'), $4::boolean, $5::bigint
)
