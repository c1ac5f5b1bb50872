-- Watermark, of several source partitions: append to its history, and to theirs, what the fold gives (R2).
--
-- $1 rollup_id: integer
-- $2 combine: min, max or own
-- $3 idle_after: interval; null where nobody falls idle by silence
-- $4 frontier: the greatest bound of earlier runs
-- $5 bound: bound of this run
-- $6 is_log: entries of a log are counted where they go back; rows may come in any order
--
-- Inputs: pg_temp.errata_record. Rows out: one a step of the combined watermark. Safe to repeat: an instant seen before
-- is raised, never lowered.
with step as materialized (
  select c.source_partition_id, c.at, max(c.watermark) as watermark
  from /*:schema*/errata/*.*/.combine_watermark($1::integer, $2::text, $3::interval, $4::timestamptz, $5::timestamptz, $6::boolean) as c
  group by c.source_partition_id, c.at
),
own_step as (
  insert into /*:schema*/errata/*.*/.source_watermark_step as s (source_partition_id, at, watermark)
  select t.source_partition_id, t.at, t.watermark
  from step as t
  where t.source_partition_id is not null
  on conflict (source_partition_id, at) do update
    set watermark = greatest(s.watermark, excluded.watermark)
)
insert into /*:schema*/errata/*.*/.watermark_step as s (rollup_id, at, watermark /*:step_delay*/, delay/*.*/)
select $1::integer, t.at, t.watermark /*:step_delay_value*/, interval '600000000 microseconds'/*.*/
from step as t
where t.source_partition_id is null
on conflict (rollup_id, at) do update
  set watermark = greatest(s.watermark, excluded.watermark) /*:step_delay_raised*/, delay = case when excluded.watermark > s.watermark then excluded.delay else s.delay end/*.*/
