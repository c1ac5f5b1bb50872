-- Reopen: until it expires the period stands open, and what was held in it is judged by the next run (R12).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 stamp: of this run
-- $4 period: text
-- $5 period_start, $6 period_end: timestamptz
-- $7 actor, $8 reason: text
-- $9 expires_at: timestamptz
--
-- Rows out: one. Not repeatable: each call is an act.
with acted as (
  insert into /*:schema*/errata/*.*/.period_act (
    rollup_id, period, period_start, period_end, act, actor, reason, acted_at, run_id, expires_at
  )
  values (
    $1::integer, $4::text, $5::timestamptz, $6::timestamptz, 'reopen', $7::text, $8::text, $3::timestamptz, $2::bigint, $9::timestamptz
  )
  returning act_id
),
freed as (
  update /*:schema*/errata/*.*/.proposal as o
  set is_held = false
  where o.rollup_id = $1::integer
    and o.state = 'open'
    and o.is_held
    and o.window_start >= $5::timestamptz
    and o.window_start < $6::timestamptz
  returning o.*
),
freed_event as (
  update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  set state = 'pending'
  where e.state = 'held'
    and e.window_start >= $5::timestamptz
    and e.window_start < $6::timestamptz
),
queued as (
  insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since)
  select
    f.window_start, f.window_end, /*:each key*/ (f.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/, /*:end*/ c.cause, $3::timestamptz
  from freed as f
  cross join lateral unnest(f.causes) as c (cause)
  on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
)
select a.act_id::text as act_id from acted as a
