-- Seal, where the stream does: the measures of each keyed window that became sealed, over all rows that bronze holds of it.
--
-- $1 sealing_from, $2 sealing_to: where the windows that became sealed start, half-open
-- $3 ingested_from: no row of those windows was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
-- $5 events_to: end of the last of those windows
--
-- Rows out: one a keyed window that has rows, into pg_temp.errata_sealing_result. Safe to repeat: writes work tables only.
--
-- Where partials are kept, once for each stretch of ingestion that they do not cover, into pg_temp.errata_sealing_part.
-- One reading serves both questions that follow: for which of them did nothing ship (unsealed.sql), and of which did the very
-- value ship (agreed.sql)? A day of 670,000 rows and 14,400 keyed windows was read for each of them, in 2.0 s together.
insert into /*:sealing_into*/pg_temp.errata_sealing_result/*.*/ (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*)
from (
  select w.window_start as errata_window_start, w.window_end as errata_window_end /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from /*:span_source*/errata.daily_orders_source () as r/*.*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  /*:row_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $5::timestamptz
    and /*:in_range*/w.window_start >= $1::timestamptz and w.window_start < $2::timestamptz/*.*/
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_is_valid
    /*:in_span*/and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to and w.window_start >= g.sealing_from and w.window_start < g.sealing_to/*.*/
    /*:key_is_sealing*/and w.window_start >= coalesce(v.errata_sealing_from, g.others_from) and w.window_start < coalesce(v.errata_sealing_to, g.others_to)/*.*/
) as r
group by r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
