-- Source partitions: those that were found or declared get their place, and what the last run carried over is
-- remembered (R2).
--
-- $1 rollup_id: integer
-- $2 first_row: the first row of this run that moves a watermark; null where there is none
-- $3 declared: text[], the names in the settings
-- $4 since: text[] beside it, instants; empty where the settings name none
--
-- Inputs: pg_temp.errata_record. Rows out: what was carried over, into the same. Safe to repeat: it is told apart by name.
with first as (
  update /*:schema*/errata/*.*/.rollup as r
  set first_instant = coalesce(
    r.first_instant,
    least($2::timestamptz, (select min(e.at) from pg_temp.errata_record as e))
  )
  where r.rollup_id = $1::integer
  returning r.first_instant
),
carried as (
  insert into pg_temp.errata_record (source_partition, at, watermark, active_until)
  select p.source_partition, p.carried_at, p.carried_watermark, p.carried_at
  from /*:schema*/errata/*.*/.source_partition as p
  where p.rollup_id = $1::integer and p.carried_at is not null
),
declared as (
  select d.source_partition, coalesce(nullif(d.since, '')::timestamptz, f.first_instant) as since
  from first as f
  cross join unnest($3::text[], $4::text[]) as d (source_partition, since)
),
named as (
  select d.source_partition from declared as d
  union
  select e.source_partition from pg_temp.errata_record as e
  union
  select p.source_partition
  from /*:schema*/errata/*.*/.source_partition as p
  where p.rollup_id = $1::integer and p.declared_since is not null
)
insert into /*:schema*/errata/*.*/.source_partition as p (rollup_id, source_partition, declared_since)
select $1::integer, n.source_partition, d.since
from named as n
left join declared as d on d.source_partition = n.source_partition
on conflict (rollup_id, source_partition) do update
  set declared_since = excluded.declared_since
  where p.declared_since is distinct from excluded.declared_since
