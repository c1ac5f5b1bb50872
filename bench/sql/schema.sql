-- What the bench makes before any row: bronze by ingestion day, and the totals of each job beside Errata.
create schema bronze;
create schema bench;

create table bronze.orders (
  order_id bigint not null,
  ordered_at timestamptz not null,
  ingested_at timestamptz not null,
  region text not null,
  amount numeric(12, 2) not null
) partition by range (ingested_at);

do $$
begin
  for day in 0..59 loop
    execute format(
      'create table bronze.%I partition of bronze.orders for values from (%L) to (%L)',
      to_char(date '2026-09-01' + day, '"orders_"YYYYMMDD'),
      (date '2026-09-01' + day)::timestamp at time zone 'UTC',
      (date '2026-09-01' + day + 1)::timestamp at time zone 'UTC'
    );
  end loop;
end
$$;

-- A number from 0 until 1 that depends on nothing but these two.
create function bench.fraction(id bigint, seed bigint) returns double precision
language sql immutable strict parallel safe
return (hashint8extended(id, seed) & 9007199254740991) / 9007199254740992.0::double precision;
