-- Classify: which of the new rows landed late, and which appeared only after their window was sealed (R2, R3, R6).
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
--
-- Rows out: one a late or straggling row, into pg_temp.errata_candidate; a small part of what is read.
-- The history is held as two arrays that width_bucket searches: exact for every row, and no join that a planner could
-- turn round. With `combine: own` each source partition has such arrays too, one row each. Safe to repeat: writes work tables only.
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
insert into pg_temp.errata_candidate
select
  r.*,
  w.window_start,
  w.window_end,
  w.local_date,
  j.watermark,
  case
    when j.watermark >= w.window_end + /*:row_lateness*/$9::interval/*.*/ then 'side_output'
    when j.watermark >= w.window_end then 'late_firing'
    else 'open'
  end
from history as h
/*:delay_history_join*/cross join delay_history as d/*.*/
cross join (
  select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
) as r
cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
/*:own_join*/left join own_history as o on coalesce('=' || o.source_partition, '') = coalesce('=' || r.errata_source_partition, '')/*.*/
/*:row_override_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
cross join lateral (
  select case
    when $11::interval is not null then /*:fixed_watermark*/r.errata_arrived_at - $11::interval/*.*/
    else greatest(
      h.watermarks[width_bucket(r.errata_ingested_at, h.in_force_from)],
      /*:own_watermark*/o.watermarks[width_bucket(r.errata_ingested_at, o.in_force_from)]/*.*/
    ) /*:key_ahead*/+ coalesce(h.delays[1] - v.errata_delay, interval '0')/*.*/
  end as watermark
) as j
where (r.errata_relation = $1::oid or $1::oid is null)
  and (
    (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
    or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
  )
  and r.errata_ingested_at <= $6::timestamptz
  -- before its window is computed: the watermark has not even passed most rows' own event time
  and (j.watermark > r.errata_event_time or r.errata_event_time < /*:row_sealed_before*/$10::timestamptz/*.*/)
  and r.errata_is_valid
  and (j.watermark >= w.window_end or w.window_end <= /*:row_sealed_before*/$10::timestamptz/*.*/)
