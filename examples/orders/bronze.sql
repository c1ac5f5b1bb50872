-- A bronze table of orders: nine days, the same rows every time. Nothing in it is random, so every figure can be
-- worked out from this file.
--
--   day          orders   of these
--   2026-10-26    1,381
--   2026-10-27    1,396   3 of a shop whose line was down arrive the next morning
--   2026-10-28    1,409   1 is delivered twice, both rows equal but for the time of arrival
--   2026-10-29    1,403   1, order 8841, arrives two days and six hours later
--   2026-10-30    1,377   1 arrives the next morning; 1 is delivered again with another amount
--   2026-10-31    1,412   2 arrive the next afternoon
--   2026-11-01    1,440   one a minute, on the minute
--   2026-11-02    1,389
--   2026-11-03    1,368
--
-- and one row from a device whose clock runs 135 days ahead.
create schema if not exists bronze;

create table bronze.orders (
  order_id bigint not null,
  ordered_at timestamptz not null,
  ingested_at timestamptz not null,
  region text,
  amount numeric(12, 2) not null
)
partition by range (ingested_at);

comment on table bronze.orders is 'Raw orders as they arrived, in partitions of a day of arrival. Made by examples/orders/bronze.sql.';

-- One ingestion partition a day. A job that reads what is new touches the last one or two and no other.
do $$
begin
  for day in 0..9 loop
    execute format(
      'create table bronze.%I partition of bronze.orders for values from (%L) to (%L)',
      'orders_' || to_char(date '2026-10-26' + day, 'YYYY_MM_DD'),
      format('%s 00:00+00', date '2026-10-26' + day),
      format('%s 00:00+00', date '2026-10-27' + day)
    );
  end loop;
end
$$;

-- A window is recomputed by its key and its span of event times, a copy is found by its id.
create index on bronze.orders (region, ordered_at);
create index on bronze.orders (order_id);

insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
with day (starts_at, first_id, orders) as (
  values
    (timestamptz '2026-10-26 00:00+00', 3601, 1381),
    (timestamptz '2026-10-27 00:00+00', 4982, 1396),
    (timestamptz '2026-10-28 00:00+00', 6378, 1409),
    (timestamptz '2026-10-29 00:00+00', 7787, 1403),
    (timestamptz '2026-10-30 00:00+00', 9190, 1377),
    (timestamptz '2026-10-31 00:00+00', 10567, 1412),
    (timestamptz '2026-11-01 00:00+00', 11979, 1440),
    (timestamptz '2026-11-02 00:00+00', 13419, 1389),
    (timestamptz '2026-11-03 00:00+00', 14808, 1368)
),
-- Spread evenly over their day; on the wire for 5 to 45 seconds.
punctual as (
  select
    d.first_id + n as order_id,
    d.starts_at + n * (interval '24 hours' / d.orders) as ordered_at,
    interval '1 second' * (5 + (d.first_id + n) * 7 % 41) as on_the_wire,
    (array['US', 'EU', 'APAC', 'EU', 'US'])[1 + (d.first_id + n) % 5] as region,
    (490 + (d.first_id + n) * 7919 % 19500) / 100.0 as amount
  from day as d
  cross join lateral generate_series(0, d.orders - 1) as n
),
-- The exceptions, by name: when they arrived, and what order 8841 was.
late (order_id, arrived_at, ordered_at, amount) as (
  values
    (6201, timestamptz '2026-10-28 06:40:00+00', null::timestamptz, null::numeric),
    (6203, timestamptz '2026-10-28 06:40:00+00', null, null),
    (6206, timestamptz '2026-10-28 06:40:01+00', null, null),
    (8841, timestamptz '2026-11-01 00:10:50+00', timestamptz '2026-10-29 18:02:00+00', 99.50),
    (10511, timestamptz '2026-10-31 08:05:12+00', null, null),
    (11702, timestamptz '2026-11-01 13:20:30+00', null, null),
    (11703, timestamptz '2026-11-01 13:20:30+00', null, null)
)
select
  p.order_id,
  coalesce(l.ordered_at, p.ordered_at),
  coalesce(l.arrived_at, p.ordered_at + p.on_the_wire),
  p.region,
  coalesce(l.amount, p.amount)
from punctual as p
left join late as l using (order_id)
order by 3, 1;

-- Order 7001 is delivered twice: an exact copy. It counts once.
insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
select o.order_id, o.ordered_at, o.ingested_at + interval '40 seconds', o.region, o.amount
from bronze.orders as o
where o.order_id = 7001;

-- Order 9777 is delivered again with ten times the amount: a conflicting copy. The first row counts, both are named.
insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
select o.order_id, o.ordered_at, o.ingested_at + interval '3 minutes', o.region, o.amount * 10
from bronze.orders as o
where o.order_id = 9777;

-- A till whose clock runs ahead. Believed, it would push the watermark to March and turn every later order into a late
-- one; so it is quarantined.
insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
values (990001, '2027-03-14 11:20:00+00', '2026-10-30 11:20:09+00', 'US', 12.00);

analyze bronze.orders;
