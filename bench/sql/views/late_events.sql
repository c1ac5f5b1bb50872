-- The refused rows: one that each correction included, and one that awaits a person in each of a thousand keyed windows.
insert into gold.orders_late_event (
  window_start, window_end, region, event_id, event_time, ingested_at, arrived_at, lateness_seconds, watermark,
  landing, state, cause, version, released, orders, revenue, row_digest, first_run_id, state_run_id
)
select
  e.window_start, e.window_end, e.region, e.event_id, e.window_start, e.ingested_at, e.ingested_at,
  extract(epoch from e.ingested_at - e.window_start), e.ingested_at - interval '10 minutes',
  'side_output', case when e.version is null then 'pending' else 'included' end, 'refused', e.version, e.version is not null,
  1, 9.99, md5(e.event_id), e.run_id, e.run_id
from (
  select g.window_start, g.window_end, g.region, g.version, g.run_id, g.stamp as ingested_at,
    concat(extract(epoch from g.window_start)::bigint, g.region, 'v', g.version) as event_id
  from gold.orders as g
  where g.version > 1
  union all
  select g.window_start, g.window_end, g.region, null, g.run_id, g.stamp + interval '5 hours',
    concat(extract(epoch from g.window_start)::bigint, g.region, 'pending')
  from gold.orders as g
  where g.version = 1
    and bench.fraction(bench.window_id(g.window_start, substr(g.region, 2)::integer), 2) < 0.001
) as e
order by e.ingested_at
