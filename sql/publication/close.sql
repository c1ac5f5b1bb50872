-- Close: the act, what the period comes to by key, and its mark (R12). As of the stamp nothing of it changes any more.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 stamp: of this run
-- $4 period: text
-- $5 period_start, $6 period_end: timestamptz
-- $7 act: text, soft_close or hard_close
-- $8 actor, $9 reason: text
-- $10 is_forced: boolean
-- $11 posting_role: text; whose members publish adjustments after a soft close
-- $12 mark: text
--
-- Open proposals of the period are held from now on, and so are the events in them. Rows out: one. Not repeatable: each
-- call is an act.
with acted as (
  insert into /*:schema*/errata/*.*/.period_act (
    rollup_id, period, period_start, period_end, act, actor, reason, acted_at, run_id, is_forced, posting_role
  )
  values (
    $1::integer, $4::text, $5::timestamptz, $6::timestamptz, $7::text, $8::text, $9::text, $3::timestamptz, $2::bigint, $10::boolean, $11::text
  )
  returning act_id
),
total as (
  select
    jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as errata_key,
    count(*) filter (where c.version > 0) as errata_keyed_windows
    /*:each additive*/
    , sum(c./*:latest_measure*/latest_revenue/*.*/) as /*:latest_measure*/latest_revenue/*.*/
    , sum(c./*:restated_measure*/restated_revenue/*.*/) as /*:restated_measure*/restated_revenue/*.*/
    /*:end*/
  from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as c
  where c.window_start >= $5::timestamptz
    and c.window_start < $6::timestamptz
  group by 1
),
kept as (
  insert into /*:schema*/errata/*.*/.period_total (act_id, key, keyed_windows, measures, restated)
  select
    a.act_id,
    t.errata_key,
    t.errata_keyed_windows,
    '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, t./*:latest_measure*/latest_revenue/*.*/::text) /*:end*/,
    '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, t./*:restated_measure*/restated_revenue/*.*/::text) /*:end*/
  from total as t
  cross join acted as a
),
marked as (
  insert into /*:schema*/errata/*.*/.mark (name, stamp, actor, made_at, rollup_id)
  values ($12::text, $3::timestamptz, $8::text, $3::timestamptz, $1::integer)
),
held as (
  update /*:schema*/errata/*.*/.proposal as o
  set is_held = true
  where o.rollup_id = $1::integer
    and o.state = 'open'
    and o.window_start >= $5::timestamptz
    and o.window_start < $6::timestamptz
),
held_event as (
  update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  set state = 'held', state_run_id = $2::bigint
  where e.state = 'pending'
    and e.released
    and e.window_start >= $5::timestamptz
    and e.window_start < $6::timestamptz
    and exists (
      select from /*:schema*/errata/*.*/.proposal as o
      where o.rollup_id = $1::integer
        and o.state = 'open'
        and o.window_start = e.window_start
        and o.window_end = e.window_end
        and o.key = jsonb_build_array(/*:event_key_texts*/e.region::text/*.*/)
    )
)
select a.act_id::text as act_id from acted as a
