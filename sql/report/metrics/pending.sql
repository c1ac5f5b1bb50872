-- Events that await a person or a run, counted by the index of pending rows. Rows out: one.
--
-- Safe to repeat: it reads.
select
  count(*) filter (where not e.released)::text as unreleased,
  count(*) filter (where e.released)::text as released
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.state = 'pending'
