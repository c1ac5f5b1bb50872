-- One more ingestion day: all its rows land within a minute of their event but the late ones, which are up to ten days late.
--
-- $1 day: date
-- $2 rows: bigint
-- $3 late: bigint
-- $4 keys: integer, as in bronze.sql
insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
select
  r.id,
  r.at - case when n % ($2::bigint / $3::bigint) = 0 then interval '1 hour' + interval '239 hours' * r.part else interval '1 minute' * r.part end,
  r.at,
  'k' || floor($4::integer * case when $4::integer > 1000 then power(r.key, 3) else r.key end)::integer,
  (r.amount * 100)::numeric(12, 2)
from generate_series(0, $2::bigint - 1) as n
cross join lateral (select ($1::date - date '2026-09-01')::bigint * 1000000000 + n as id) as i
cross join lateral (
  select
    i.id,
    $1::timestamp at time zone 'UTC' + n * (interval '1 day' / $2::bigint) as at,
    bench.fraction(i.id, 2) as part,
    bench.fraction(i.id, 3) as key,
    bench.fraction(i.id, 4) as amount
) as r
