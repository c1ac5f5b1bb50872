-- Amend: the rows that bear those ids now, in the order in which they count (R5): what has been counted before what was a
-- copy or is new, and those in the order of ingestion.
--
-- $1 bound: bound of this run
-- $2 ingested_from: no row of these windows was ingested earlier; null where that cannot be known
-- $3 transaction: see scan.sql
-- $4 events_from, $5 events_to: start of the first and end of the last of those windows
--
-- Inputs: pg_temp.errata_amended_id, analysed; bronze, the copies as they were. Rows out: one a row, into
-- pg_temp.errata_amended_row. Safe to repeat: writes work tables only.
insert into pg_temp.errata_amended_row
select
  r.*,
  i.window_start,
  i.window_end,
  row(/*:each key*/ r./*:key*/region/*.*/, /*:end*/ /*:each measured*/ r./*:column*/amount/*.*/, /*:end*/ null)::text,
  c.event_id is not null,
  row_number() over (
    partition by i.window_start, i.window_end, i.event_id
    order by
      c.event_id is not null or coalesce(
        (r.errata_row_age <= p.horizon_age and not (p.seen @> ($3::bigint - r.errata_row_age)))
          or r.errata_ingested_at > p.bound_before,
        false
      ),
      r.errata_ingested_at,
      r.errata_row_digest collate "C"
  )
from pg_temp.errata_amended_id as i
join /*:source*/errata.daily_orders_source/*.*/ () as r
  on r.errata_event_id = i.event_id
  and r.errata_event_time >= i.window_start
  and r.errata_event_time < i.window_end
left join pg_temp.errata_partition as p on p.relation_id = r.errata_relation
left join /*:copy*/errata.daily_orders_copy/*.*/ as c
  on c.window_start = i.window_start
  and c.window_end = i.window_end
  /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
  and c.event_id = r.errata_event_id
  and c.ingested_at = r.errata_ingested_at
  and c.row_digest = r.errata_row_digest
  and not c.is_identical
where r.errata_event_time >= $4::timestamptz
  and r.errata_event_time < $5::timestamptz
  and (r.errata_ingested_at >= $2::timestamptz or $2::timestamptz is null)
  and r.errata_ingested_at <= $1::timestamptz
  and r.errata_is_valid
