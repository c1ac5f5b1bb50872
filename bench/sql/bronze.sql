-- Bronze: thirty daily ingestion partitions, 1 September 2026 on. Of a hundred rows 99 land within a minute of their event,
-- of a thousand 9 more within a day, and one up to ten days late.
--
-- $1 rows: bigint, of all thirty days
-- $2 keys: integer; beyond 1,000 of them they are skewed, the first hundredth having a fifth of the rows
--
-- What is random is a hash of the row's number, so that every machine makes the same rows.
insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
select
  n,
  timestamptz '2026-09-01 00:00Z' + n * (interval '30 days' / $1::bigint)
    - case when r.lateness < 0.99 then interval '1 minute' when r.lateness < 0.999 then interval '1 day' else interval '10 days' end * r.part,
  timestamptz '2026-09-01 00:00Z' + n * (interval '30 days' / $1::bigint),
  'k' || floor($2::integer * case when $2::integer > 1000 then power(r.key, 3) else r.key end)::integer,
  (r.amount * 100)::numeric(12, 2)
from generate_series(0, $1::bigint - 1) as n
cross join lateral (
  select
    bench.fraction(n, 1) as lateness,
    bench.fraction(n, 2) as part,
    bench.fraction(n, 3) as key,
    bench.fraction(n, 4) as amount
) as r
