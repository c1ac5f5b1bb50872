-- What stands before the ledger is made: a bronze that nobody reads, and the hash of the rows.
create schema bronze;
create schema bench;

create table bronze.orders (
  order_id bigint not null,
  ordered_at timestamptz not null,
  ingested_at timestamptz not null,
  region text not null,
  amount numeric(12, 2) not null
) partition by range (ingested_at);
create table bronze.orders_all partition of bronze.orders for values from (minvalue) to (maxvalue);

-- A number from 0 until 1 that depends on nothing but these two.
create function bench.fraction(id bigint, seed bigint) returns double precision
language sql immutable strict parallel safe
return (hashint8extended(id, seed) & 9007199254740991) / 9007199254740992.0::double precision;

-- Of a window and the number of its key.
create function bench.window_id(window_start timestamptz, key integer) returns bigint
language sql immutable strict parallel safe
return (extract(epoch from window_start) / 300)::bigint * 100000 + key
