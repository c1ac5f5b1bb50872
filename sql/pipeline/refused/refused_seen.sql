-- Refused, under another strategy than `external`: what was judged of the new rows that the stream says it refused. It is
-- compared, and decides nothing.
--
-- $1 relation: as in scan.sql, to
-- $2 horizon_age
-- $3 seen
-- $4 transaction
-- $5 bound_before
-- $6 bound
-- $7 rollup_id: integer
-- $8 run_id: bigint
--
-- Inputs: the late events. Rows out: one an entry that is answered now. Safe to repeat: an answered entry stays so.
update /*:schema*/errata/*.*/.refused_entry as e
set found_run_id = $8::bigint, landing = s.landing
from (
  select distinct on (k.refused_entry_id) k.refused_entry_id, coalesce(l.landing, 'open') as landing
  from (
    select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
  ) as r
  join /*:schema*/errata/*.*/.refused_entry as k
    on k.rollup_id = $7::integer
    and k.found_run_id is null
    and k.event_id = r.errata_event_id
    and (k.event_time = r.errata_event_time or k.event_time is null)
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  left join /*:late_event*/gold.daily_orders_late_event/*.*/ as l
    on /*:same_window*/l.window_start = w.window_start and l.window_end = w.window_end and/*.*/
    l.event_id = r.errata_event_id
    and l.landing is not null
  where (r.errata_relation = $1::oid or $1::oid is null)
    and (
      (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
      or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
    )
    and r.errata_ingested_at <= $6::timestamptz
    and r.errata_is_valid
    and (k.window_start = w.window_start or k.window_start is null)
    and (k.window_end = w.window_end or k.window_end is null)
  order by k.refused_entry_id, l.landing is distinct from 'side_output', l.landing
) as s
where e.refused_entry_id = s.refused_entry_id
