-- How late the late events of the last runs came, in seconds. Rows out: one a source partition, of the hundred with the most
-- late events; NULL is a source partition's name too.
--
-- $1 first_run_id: the first of these runs
--
-- It reads what these runs kept, by the index on the run. Safe to repeat: it reads.
select
  e.source_partition,
  count(*)::text as events,
  percentile_cont(0.5) within group (order by e.lateness_seconds::double precision)::text as half,
  percentile_cont(0.9) within group (order by e.lateness_seconds::double precision)::text as nine_tenths,
  percentile_cont(0.99) within group (order by e.lateness_seconds::double precision)::text as nearly_all,
  max(e.lateness_seconds)::text as most
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.first_run_id >= $1::bigint
  and e.landing in ('late_firing', 'side_output')
  and e.lateness_seconds is not null
group by e.source_partition
order by count(*) desc, e.source_partition
limit 100
