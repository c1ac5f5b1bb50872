-- From what shipped to what is true (R14), over the windows that start in a span. Rows out: one an additive measure; none where
-- no measure adds up.
--
-- $1 from_instant, $2 to_instant: half-open
-- $3 window_end: of one window; null for all
-- $4 key: jsonb, the texts of the key columns as an array, in their order; null for all
--
-- The view is asked for one start of windows after the other: an equality reaches the ledger's index through all of it, where a
-- span reads one of its sides whole. Safe to repeat: it reads.
select
  m.measure,
  m.sealed::text as sealed,
  m.corrections::text as corrections,
  m.latest::text as latest,
  m.pending::text as pending,
  m.held::text as held,
  m.waived::text as waived,
  m.restated::text as restated
from (
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
  from /*:window_starts*/(
    select g.window_start
    from gold.daily_orders as g
    where g.window_start >= $1::timestamptz and g.window_start < $2::timestamptz
  )/*.*/ as w
  cross join lateral (
    select v.*
    from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as v
    where v.window_start = w.window_start
    -- else the two are joined, and the view is read whole
    offset 0
  ) as c
  where ($3::timestamptz is null or c.window_end = $3::timestamptz)
    and ($4::jsonb is null or jsonb_build_array(/*:key_texts*/c.region::text/*.*/) = $4::jsonb)
) as t
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
