-- Reconcile: the keyed windows of a batch counted anew from bronze, over the valid first copies, whatever their state (R14).
--
-- $1 window_from, $2 window_to: where the windows start, half-open
-- $3 events_to: end of the last of them
-- $4 ingested_from: no row of them was ingested earlier; null where that cannot be known
-- $5 bound: rows ingested later have not been examined
-- $6 knows_ages: boolean; transaction ages of rows can be compared with pg_temp.errata_read
-- $7 transaction: the 64-bit number to which age() counts back
--
-- The first copy is the earliest row that no run has recorded as a copy: once counted, a copy examined later never
-- displaces it (R5), and so rows that no run has examined yet come last. A row whose first copy lies under another key is
-- recorded as a copy too. One sort of the rows of the batch, by window and id, which goes to disk beyond work_mem.
-- Rows out: into pg_temp.errata_recounted. Safe to repeat for another batch: writes work tables only.
with window_row as (
  select
    w.window_start as errata_window_start,
    w.window_end as errata_window_end,
    w.local_date as errata_local_date,
    r.*,
    case
      when r.errata_relation is null or not $6::boolean then r.errata_ingested_at > $5::timestamptz
      when p.relation_id is null or p.horizon_age is null then true
      else (r.errata_row_age <= p.horizon_age and not (p.seen @> ($7::bigint - r.errata_row_age)))
        or r.errata_ingested_at > p.bound
    end as errata_is_new,
    c.event_id is not null as errata_is_copy
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  left join pg_temp.errata_read as p on p.relation_id = r.errata_relation
  left join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.window_start = w.window_start
    and c.window_end = w.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.ingested_at = r.errata_ingested_at
    and c.row_digest = r.errata_row_digest
    and not c.is_identical
    and c.window_start >= $1::timestamptz
    and c.window_start < $2::timestamptz
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $3::timestamptz
    and w.window_start >= $1::timestamptz
    and w.window_start < $2::timestamptz
    and (r.errata_ingested_at >= $4::timestamptz or $4::timestamptz is null)
    and r.errata_is_valid
),
ranked as (
  select
    r.*,
    /*:place_of_copy*/row_number() over (
      partition by r.errata_window_start, r.errata_window_end, r.errata_event_id
      order by r.errata_is_copy, r.errata_is_new, r.errata_ingested_at, r.errata_row_digest collate "C"
    )/*.*/ as errata_place
  from window_row as r
),
first_copy as (
  select r.*, e.event_id is not null as errata_is_named
  from ranked as r
  left join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = r.errata_window_start
    and e.window_end = r.errata_window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and e.event_id = r.errata_event_id
    and e.row_digest = r.errata_row_digest
    and e.state is not null
    and e.gone_run_id is null
    and e.window_start >= $1::timestamptz
    and e.window_start < $2::timestamptz
  where r.errata_place = 1
    and (not r.errata_is_copy or /*:unique_rows*/false/*.*/)
    -- of which a measure is known to fail (R19)
    and not exists (
      select from /*:touched*/errata.daily_orders_touched/*.*/ as q
      where q.window_start = r.errata_window_start
        and q.window_end = r.errata_window_end
        /*:each key*/ and array[q./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
        and q.error is not null
    )
)
insert into pg_temp.errata_recounted (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ is_examined, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ events, named
)
select
  r.errata_window_start, r.errata_window_end, r.errata_local_date, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ not r.errata_is_new,
  /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*), count(*) filter (where r.errata_is_named)
from first_copy as r
group by
  r.errata_window_start, r.errata_window_end, r.errata_local_date, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_is_new
