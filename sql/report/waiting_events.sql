-- Events that are not in a published number yet, by state, and what they add up to. Rows out: one a state; pending
-- events that are released wait for a run, or for a person where they are in an open proposal; the others for a person.
--
-- $1 rollup_id: integer
--
-- Safe to repeat: it reads.
select
  e.state,
  e.released,
  e.errata_is_proposed as is_proposed,
  count(*)::text as events,
  count(distinct e.window_start)::text as windows,
  min(e.window_start)::text as first_window_start,
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, sum(e./*:measure*/revenue/*.*/)::text) /*:end*/ as measures
from (
  select
    c.*,
    c.released and exists (
      select from /*:schema*/errata/*.*/.proposal as o
      where o.rollup_id = $1::integer
        and o.state = 'open'
        and o.window_start = c.window_start
        and o.window_end = c.window_end
        and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
    ) as errata_is_proposed
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as c
  where c.state in ('pending', 'held')
) as e
group by e.state, e.released, e.errata_is_proposed
order by e.state desc, e.released, e.errata_is_proposed
