-- What a run is about to publish or propose, or what must wait, window by window, before and after. Rows out: at most
-- $1, the largest part of the windows first published.
--
-- $1 at_most: integer
-- $2 released_only: boolean; names only events that are released
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.verdict,
  c.causes,
  c.old_version,
  c.is_void,
  c.event_count::text as event_count,
  c.old_event_count::text as old_event_count,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(c./*:old_measure*/old_revenue/*.*/::text, c./*:measure*/revenue/*.*/::text)) /*:end*/ as measures,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, (/*:difference_value*/coalesce(c.revenue, 0) - coalesce(c.old_revenue, 0)/*.*/)::text) /*:end*/ as deltas,
  c.why,
  (
    select array_agg(n.event_id)
    from (
      select e.event_id
      from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
      where e.window_start = c.window_start
        and e.window_end is not distinct from c.window_end
        /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
        and e.state in ('pending', 'held')
        and (e.released or not $2::boolean)
      order by e.ingested_at, e.event_id
      limit 5
    ) as n
  ) as events
from pg_temp.errata_change as c
where c.verdict <> 'same'
order by c.window_start desc /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
limit $1::integer
