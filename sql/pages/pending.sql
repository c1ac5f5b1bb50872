-- Pending rows and what they add up to, by the index of pending rows. Rows out: one a kind: those that await a person by
-- themselves, in an open proposal, or released and waiting for a run.
--
-- $1 rollup_id: integer
--
-- Safe to repeat: it reads.
select
  e.errata_waits_for as waits_for,
  count(*)::text as rows,
  count(distinct e.window_start)::text as windows,
  min(e.window_start)::text as first_window_start,
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, sum(e./*:measure*/revenue/*.*/)::text) /*:end*/ as measures
from (
  select
    c.*,
    case
      when not c.released then 'person'
      when exists (
        select from /*:proposal*/errata.proposal/*.*/ as o
        where o.rollup_id = $1::integer
          and o.state = 'open'
          and o.window_start = c.window_start
          and o.window_end = c.window_end
          and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
      ) then 'proposal'
      else 'run'
    end as errata_waits_for
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as c
  where c.state = 'pending'
) as e
group by e.errata_waits_for
order by e.errata_waits_for
