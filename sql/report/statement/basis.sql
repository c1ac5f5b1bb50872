-- Statement: what it is of, as one row for the statements that follow (R11, R12).
--
-- $1 stamp: what was known then, and nothing later
-- $2 period: text; $3 period_start, $4 period_end: timestamptz
-- $5 time_zone: whose days the days are
-- $6 rollup_id: integer
--
-- `closed_at` is the first close that stood by then; `sweep_id` the last sweep on record by then that covers the period
-- (R14). Rows out: none; into pg_temp.errata_statement. Safe to repeat in another transaction: writes a work table only.
create temp table errata_statement on commit drop as
select
  $1::timestamptz as stamp,
  $2::text as period,
  $3::timestamptz as period_start,
  $4::timestamptz as period_end,
  $5::text as time_zone,
  $6::integer as rollup_id,
  (
    select min(a.acted_at)
    from /*:schema*/errata/*.*/.period_act as a
    where a.rollup_id = $6::integer
      and a.act <> 'reopen'
      and a.period_start <= $3::timestamptz
      and a.period_end >= $4::timestamptz
      and a.acted_at <= $1::timestamptz
  ) as closed_at,
  (
    select max(c.reconciliation_id)
    from /*:schema*/errata/*.*/.reconciliation as c
    where c.rollup_id = $6::integer
      and c.key is null
      and c.range_from <= $3::timestamptz
      and c.range_to >= $4::timestamptz
      and coalesce(c.stored_at, c.swept_at) <= $1::timestamptz
  ) as sweep_id
