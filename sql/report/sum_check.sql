-- The sum check (R14): what was sealed, what corrections made of it, and what still awaits someone, added up over one
-- keyed window or all of them. Rows out: one an additive measure.
--
-- $1 window_start, $2 window_end: of one window; null for all
-- $3 key: jsonb, an object of key columns and their texts; null for all
-- $4 recount: jsonb, an object of measures and their values counted anew from bronze, as text; null where nobody has
--
-- Safe to repeat: it reads.
with keyed_window as (
  select c.*
  from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as c
  where (c.window_start = $1::timestamptz or $1::timestamptz is null)
    and (c.window_end = $2::timestamptz or $2::timestamptz is null)
    and ($3::jsonb is null or jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb)
),
total as (
  select
    /*:each additive*/
    coalesce(sum(c./*:sealed_measure*/sealed_revenue/*.*/), 0)::numeric as /*:sealed_measure*/sealed_revenue/*.*/,
    coalesce(sum(c./*:corrections_measure*/corrections_revenue/*.*/), 0)::numeric as /*:corrections_measure*/corrections_revenue/*.*/,
    coalesce(sum(c./*:latest_measure*/latest_revenue/*.*/), 0)::numeric as /*:latest_measure*/latest_revenue/*.*/,
    coalesce(sum(c./*:pending_measure*/pending_revenue/*.*/), 0)::numeric as /*:pending_measure*/pending_revenue/*.*/,
    coalesce(sum(c./*:held_measure*/held_revenue/*.*/), 0)::numeric as /*:held_measure*/held_revenue/*.*/,
    coalesce(sum(c./*:waived_measure*/waived_revenue/*.*/), 0)::numeric as /*:waived_measure*/waived_revenue/*.*/,
    coalesce(sum(c./*:restated_measure*/restated_revenue/*.*/), 0)::numeric as /*:restated_measure*/restated_revenue/*.*/,
    /*:end*/
    count(*) as keyed_windows
  from keyed_window as c
)
select
  m.measure,
  m.sealed::text as sealed,
  m.corrections::text as corrections,
  m.latest::text as latest,
  m.pending::text as pending,
  m.held::text as held,
  m.waived::text as waived,
  m.restated::text as restated,
  $4::jsonb ->> m.measure as recounted,
  m.sealed + m.corrections = m.latest and m.latest + m.pending + m.held + m.waived = m.restated as adds_up,
  -- absent where no row is left: then bronze counts 0
  case when $4::jsonb ? m.measure then (coalesce(($4::jsonb ->> m.measure)::numeric, 0) - m.restated)::text end as unexplained
from total as t
cross join lateral (
  values
    (null::text, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric)
    /*:each additive*/
    , (
      /*:measure_name*/'revenue'/*.*/,
      t./*:sealed_measure*/sealed_revenue/*.*/,
      t./*:corrections_measure*/corrections_revenue/*.*/,
      t./*:latest_measure*/latest_revenue/*.*/,
      t./*:pending_measure*/pending_revenue/*.*/,
      t./*:held_measure*/held_revenue/*.*/,
      t./*:waived_measure*/waived_revenue/*.*/,
      t./*:restated_measure*/restated_revenue/*.*/
    )
    /*:end*/
) as m (measure, sealed, corrections, latest, pending, held, waived, restated)
where m.measure is not null
