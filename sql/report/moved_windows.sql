-- The keyed windows whose shipped value is not the whole truth: corrected since, or with events that await someone.
-- Rows out: one a keyed window, at most $1, the ones that moved most first by their number of events.
--
-- $1 at_most: integer
--
-- Safe to repeat: it reads.
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.version,
  '{}'::jsonb
    /*:each additive*/
    || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_object(
      'sealed', c./*:sealed_measure*/sealed_revenue/*.*/::text,
      'corrections', c./*:corrections_measure*/corrections_revenue/*.*/::text,
      'latest', c./*:latest_measure*/latest_revenue/*.*/::text,
      'pending', c./*:pending_measure*/pending_revenue/*.*/::text,
      'restated', c./*:restated_measure*/restated_revenue/*.*/::text
    ))
    /*:end*/ as measures
from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as c
where c.version > 1 or c.pending_events > 0 or c.held_events > 0 or c.waived_events > 0
order by c.corrected_events + c.pending_events desc, c.window_start /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
limit $1::integer
