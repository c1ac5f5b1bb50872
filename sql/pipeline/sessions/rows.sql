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
-- $9 allowed_lateness: interval
-- $10 sealed_before: the watermark that sealed in earlier runs; null before the first
-- $11 fixed_delay: interval; null unless the strategy is fixed_delay
-- $12 baseline: boolean; the history is sealed as it is known, so no row of it is late (R8)
-- $13 slowest: interval, the greatest delay of all, which seals under fixed_delay
--
-- Rows out: one a new row that may count, into pg_temp.errata_arrived. The combined watermark seals; with `combine: own`,
-- with delays that differ under `fixed_delay`, or where arrival is a column of its own, a row may be judged by another.
-- Under `external` a row is refused where an entry names it, and judged by no watermark. Safe to repeat: writes work
-- tables only.
with history as (
  select
    array_agg(s.at + interval '1 microsecond' order by s.at) as in_force_from,
    array_agg(s.watermark order by s.at) as watermarks
    /*:history_delays*/, array_agg(s.delay order by s.at) as delays/*.*/
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
      select array_agg(s.at + interval '1 microsecond' order by s.at)
      from /*:schema*/errata/*.*/.source_watermark_step as s
      where s.source_partition_id = p.source_partition_id and s.at >= f.at
    ) as in_force_from,
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
/*:delay_history*/, delay_history as (
  select
    array_agg(s.at + interval '1 microsecond' order by s.at) as in_force_from,
    array_agg(s.watermark order by s.at) as watermarks,
    array_agg(s.delay order by s.at) as delays
  from errata.watermark_step as s
  where s.rollup_id = $7::integer
)/*.*/
insert into pg_temp.errata_arrived
select
  r.*,
  case
    when $12::boolean then '-infinity'
    /*:entry_watermark*/when true then coalesce(n.watermark, '-infinity')/*.*/
    when $11::interval is not null then /*:fixed_watermark*/r.errata_arrived_at - $11::interval/*.*/
    else coalesce(
      greatest(
        j.combined,
        /*:own_watermark*/o.watermarks[width_bucket(r.errata_ingested_at, o.in_force_from)]/*.*/
      ) /*:key_ahead*/+ coalesce(h.delays[1] - v.errata_delay, interval '0')/*.*/,
      '-infinity'
    )
  end,
  case
    when $12::boolean then '-infinity'
    when $11::interval is not null then /*:fixed_combined*/r.errata_ingested_at - $13::interval/*.*/
    else coalesce(j.combined /*:key_ahead*/+ coalesce(h.delays[1] - v.errata_delay, interval '0')/*.*/, '-infinity')
  end,
  /*:row_lateness*/$9::interval/*.*/,
  /*:row_sealed_before*/$10::timestamptz/*.*/,
  /*:is_named*/coalesce(n.entries > 0, false)/*.*/
from history as h
/*:delay_history_join*/cross join delay_history as d/*.*/
cross join (
  select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
) as r
/*:own_join*/left join own_history as o on coalesce('=' || o.source_partition, '') = coalesce('=' || r.errata_source_partition, '')/*.*/
/*:row_override_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
/*:entry_join*/left join lateral (select count(*) as entries, min(e.watermark) as watermark from errata.refused_entry as e where e.event_id = r.errata_event_id) as n on true/*.*/
cross join lateral (
  select h.watermarks[width_bucket(r.errata_ingested_at, h.in_force_from)] as combined
) as j
where (r.errata_relation = $1::oid or $1::oid is null)
  and (
    (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
    or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
  )
  and r.errata_ingested_at <= $6::timestamptz
  and r.errata_is_valid
