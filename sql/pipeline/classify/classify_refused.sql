-- Classify, `external`: which of the new rows did the stream refuse, and which appeared only after their window was
-- sealed (R2, R6)? Whatever no entry names landed open.
--
-- $1 relation: as in scan.sql, to
-- $2 horizon_age
-- $3 seen
-- $4 transaction
-- $5 bound_before
-- $6 bound
-- $7 rollup_id: integer
-- $8 sealed_before: the watermark that sealed in earlier runs; null before the first
--
-- Rows out: one a refused or straggling row and window, into pg_temp.errata_candidate, with the least watermark that
-- the stream wrote beside it. The ids are joined first: only the few rows that bear one are looked up.
-- Safe to repeat: writes work tables only.
insert into pg_temp.errata_candidate
select
  r.*,
  w.window_start,
  w.window_end,
  w.local_date,
  n.watermark,
  case when n.entries > 0 then 'side_output' else 'open' end
from (
  select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
) as r
cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
left join (
  select distinct e.event_id
  from /*:schema*/errata/*.*/.refused_entry as e
  where e.rollup_id = $7::integer and e.event_id is not null
) as k on k.event_id = r.errata_event_id
left join lateral (
  select count(*) as entries, min(e.watermark) as watermark
  from /*:schema*/errata/*.*/.refused_entry as e
  where k.event_id is not null
    and e.rollup_id = $7::integer
    and e.event_id = r.errata_event_id
    and (e.event_time = r.errata_event_time or e.event_time is null)
    and (e.window_start = w.window_start or e.window_start is null)
    and (e.window_end = w.window_end or e.window_end is null)
) as n on true
where (r.errata_relation = $1::oid or $1::oid is null)
  and (
    (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
    or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
  )
  and r.errata_ingested_at <= $6::timestamptz
  and r.errata_is_valid
  and (n.entries > 0 or w.window_end <= $8::timestamptz)
