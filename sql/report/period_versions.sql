-- What was published into the closed periods of one rollup since they were closed: adjustments, and what was posted while
-- they stood reopened (R12). Version 1, which ships after a forced close too, is none of it. Rows out: one a version, in the order of stamps; at most $2.
--
-- $1 rollup_id: integer
-- $2 at_most: integer
-- $3 known_at: instant; what has a later stamp is left out. Null: nothing is
--
-- Safe to repeat: it reads.
select
  a.act_id::text as act_id,
  a.period,
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.version,
  c.kind,
  c.causes,
  c.posting_period,
  c.actor,
  c.reason,
  c.stamp::text as stamp,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:delta_measure*/delta_revenue/*.*/::text) /*:end*/ as deltas,
  (
    select (array_agg(e.event_id order by e.event_id))[1:5]
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = c.window_start
      and e.window_end = c.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and e.version = c.version
  ) as events
from /*:schema*/errata/*.*/.period_act as a
join /*:history*/gold.daily_orders_history/*.*/ as c
  on c.window_start >= a.period_start
  and c.window_start < a.period_end
  and c.stamp > a.acted_at
where a.rollup_id = $1::integer
  and a.act <> 'reopen'
  and c.version > 1
  and (c.stamp <= $3::timestamptz or $3::timestamptz is null)
order by c.stamp, a.act_id
limit $2::integer
