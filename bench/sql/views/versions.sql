-- The versions of a stretch of windows, in the order in which runs publish them: version 1 ten minutes after its window's
-- end, version 2 of two keyed windows in a hundred within a day after, version 3 of two in a thousand two days after that.
--
-- $1 from, $2 until: timestamptz, where the windows start
-- $3 keys: integer
-- $4 definition_fingerprint: text
--
-- The number of a run is that of its quarter of an hour. What is random is a hash, so that every machine makes the same rows.
insert into gold.orders (
  window_start, window_end, region, version, orders, revenue, event_count, kind, causes, run_id, stamp, sealed_at, corrected_at, definition_fingerprint
)
select
  v.window_start, v.window_start + interval '5 minutes', v.region, v.version,
  v.orders + v.version - 1, v.revenue + (v.version - 1) * 9.99, v.orders + v.version - 1,
  case when v.version = 1 then 'seal' else 'correction' end,
  case when v.version = 1 then '{}' else '{refused}'::text[] end,
  floor(extract(epoch from v.stamp) / 900)::bigint,
  v.stamp,
  v.window_start + interval '15 minutes',
  case when v.version > 1 then v.stamp end,
  $4::text
from (
  select
    r.*,
    (1 + floor(20 * r.many))::bigint as orders,
    (100 * r.much)::numeric(12, 2) as revenue,
    n.version,
    r.window_start + interval '15 minutes'
      + case n.version when 1 then interval '0' when 2 then interval '1 day' * r.late else interval '3 days' end as stamp
  from (
    select
      w.window_start,
      'k' || k.place as region,
      bench.fraction(i.id, 1) as corrected,
      bench.fraction(i.id, 3) as many,
      bench.fraction(i.id, 4) as much,
      bench.fraction(i.id, 5) as late,
      bench.fraction(i.id, 6) as place
    from (
      select g.window_start, bench.window_id(g.window_start, 0) as id
      from generate_series($1::timestamptz, $2::timestamptz - interval '5 minutes', interval '5 minutes') as g (window_start)
      offset 0
    ) as w
    cross join generate_series(1, $3::integer) as k (place)
    cross join lateral (select w.id + k.place as id) as i
    offset 0
  ) as r
  cross join lateral generate_series(1, case when r.corrected < 0.002 then 3 when r.corrected < 0.02 then 2 else 1 end) as n (version)
) as v
order by v.stamp, v.place
