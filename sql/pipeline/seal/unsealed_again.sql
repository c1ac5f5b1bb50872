-- Seal: keyed windows whose version 1 could not be computed when the watermark passed them are tried again (R8, R19).
--
-- $1 rollup_id: integer
-- $2 max_windows: at most so many; null for all. Those tried least often first
--
-- Where an ingestion partition that may have held rows of it is gone, version 1 would be written over part of them: it
-- waits (R15). Rows out: one a keyed window, into pg_temp.errata_touched. Safe to repeat.
with waiting as (
  select q.ctid as place, q.*, g.relations
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  left join lateral (
    select string_agg(p.relation, ', ' order by p.relation) as relations
    from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $1::integer
      and p.gone_at is not null
      and p.event_time_from < q.window_end
      and p.event_time_to >= q.window_start
  ) as g on true
  where q.cause = 'unsealed'
),
held as (
  update /*:touched*/errata.daily_orders_touched/*.*/ as q
  set blocked_reason = 'its version 1 is still to be written, and ingestion partitions that may have held rows of it are gone: ' || w.relations
  from waiting as w
  where q.ctid = w.place and w.relations is not null
)
insert into pg_temp.errata_touched (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ causes, has_null_key)
select
  'unsealed', w.window_start, w.window_end, /*:each key*/ w./*:key*/region/*.*/, /*:end*/ '{}',
  false /*:each key*/ or w./*:key*/region/*.*/ is null /*:end*/
from waiting as w
where w.relations is null
order by w.tries, w.since, w.window_start, w.window_end
limit $2::bigint
