-- Hash: the versions that this run appended, and those of the stream that no run has taken yet (R21). Before the first
-- link: the whole ledger, whatever published it.
--
-- $1 run_id: bigint
--
-- Rows out: one: how many, and the hash over their hashes in the order of their bytes, in blocks by the first byte, so
-- that no more than one block is in memory. Rows that name this run and were not written by its transaction, or within a
-- savepoint of it, are passed over: they are no work of the run's. What is older than the transaction is of another; what is
-- younger and of another its snapshot does not show.
-- Not repeatable: each version is hashed once.
with beginning as materialized (
  select not exists (select from /*:evidence*/errata.daily_orders_evidence/*.*/) as is_first
),
taken as (
  delete from /*:unchained*/errata.daily_orders_unchained/*.*/ as u
  returning u.*
),
fresh as (
  select g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version, /*:row_hash*/sha256(convert_to(g::text, 'UTF8'))/*.*/ as row_hash
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.run_id = $1::bigint
    and age(g.xmin) <= age(pg_current_xact_id()::xid)
  union all
  select t.*
  from taken as t
  union all
  select g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version, /*:row_hash*/sha256(convert_to(g::text, 'UTF8'))/*.*/
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where (select b.is_first from beginning as b)
    and (g.run_id is null or g.run_id < $1::bigint)
    and not exists (
      select from taken as t
      where t.window_start = g.window_start
        and t.window_end = g.window_end
        /*:each key*/ and array[t./*:key*/region/*.*/] = array[g./*:key*/region/*.*/] /*:end*/
        and t.version = g.version
    )
),
hashed as (
  insert into /*:evidence*/errata.daily_orders_evidence/*.*/ as e (
    run_id, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ version, row_hash
  )
  select $1::bigint, f.*
  from fresh as f
  returning e.row_hash
),
block as (
  select get_byte(h.row_hash, 0) as first_byte, count(*) as versions, sha256(string_agg(h.row_hash, ''::bytea order by h.row_hash)) as hash
  from hashed as h
  group by get_byte(h.row_hash, 0)
)
select
  coalesce(sum(b.versions), 0)::text as versions,
  encode(sha256(string_agg(b.hash, ''::bytea order by b.first_byte)), 'hex') as rows_hash
from block as b
