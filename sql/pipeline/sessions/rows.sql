-- Classify, sessions: the new rows of one ingestion partition, each with the watermark that judges it (R2, R6s).
--
-- $1 relation: as in scan.sql, to
-- $2 horizon_age
-- $3 seen
-- $4 transaction
-- $5 bound_before
-- $6 bound
-- $7 rollup_id: integer
-- $8 oldest: the earliest ingested_at among the new rows of this partition; the history before it is not needed
-- $9 fixed_delay: interval; null unless the strategy is fixed_delay
-- $10 baseline: boolean; the history is sealed as it is known, so no row of it is late (R8)
--
-- Rows out: one a new row that may count, into pg_temp.errata_arrived. The combined watermark seals; with `combine: own`,
-- or where arrival is a column of its own, a row may be judged by another. Safe to repeat: writes work tables only.
with history as (
  select
    array_agg(s.at order by s.at) as instants,
    array_agg(s.watermark order by s.at) as watermarks
  from /*:schema*/errata/*.*/.watermark_step as s
  where s.rollup_id = $7::integer
    and s.at >= coalesce(
      (
        select max(b.at)
        from /*:schema*/errata/*.*/.watermark_step as b
        where b.rollup_id = $7::integer and b.at < $8::timestamptz
      ),
      '-infinity'
    )
),
own_history as (
  select
    p.source_partition,
    (
      select array_agg(s.at order by s.at)
      from /*:schema*/errata/*.*/.source_watermark_step as s
      where s.source_partition_id = p.source_partition_id and s.at >= f.at
    ) as instants,
    (
      select array_agg(s.watermark order by s.at)
      from /*:schema*/errata/*.*/.source_watermark_step as s
      where s.source_partition_id = p.source_partition_id and s.at >= f.at
    ) as watermarks
  from /*:schema*/errata/*.*/.source_partition as p
  cross join lateral (
    select coalesce(max(b.at), '-infinity') as at
    from /*:schema*/errata/*.*/.source_watermark_step as b
    where b.source_partition_id = p.source_partition_id and b.at < $8::timestamptz
  ) as f
  where p.rollup_id = $7::integer
)
insert into pg_temp.errata_arrived
select
  r.*,
  case
    when $10::boolean then '-infinity'
    when $9::interval is not null then r.errata_arrived_at - $9::interval
    else coalesce(
      greatest(
        j.combined,
        /*:own_watermark*/o.watermarks[width_bucket(r.errata_ingested_at - interval '1 microsecond', o.instants)]/*.*/
      ),
      '-infinity'
    )
  end,
  case
    when $10::boolean then '-infinity'
    when $9::interval is not null then r.errata_ingested_at - $9::interval
    else coalesce(j.combined, '-infinity')
  end
from history as h
cross join (
  select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
) as r
/*:own_join*/left join own_history as o on coalesce('=' || o.source_partition, '') = coalesce('=' || r.errata_source_partition, '')/*.*/
cross join lateral (
  select h.watermarks[width_bucket(r.errata_ingested_at - interval '1 microsecond', h.instants)] as combined
) as j
where (r.errata_relation = $1::oid or $1::oid is null)
  and (
    (r.errata_row_age <= $2::integer and not ($3::int8multirange @> ($4::bigint - r.errata_row_age)))
    or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
  )
  and r.errata_ingested_at <= $6::timestamptz
  and r.errata_quarantine is null
  and not r.errata_is_heartbeat
