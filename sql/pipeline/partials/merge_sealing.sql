-- Partials, where the stream seals: the measures of each keyed window that became sealed, from its partials and from what was
-- read of it. Whose rows were changed or are copies does not matter here: what has any leaves no queue (seal/agreed.sql).
--
-- $1 sealing_from, $2 sealing_to: where the windows that became sealed start, half-open
--
-- Inputs: pg_temp.errata_ingested, pg_temp.errata_sealing_part. Rows out: one a keyed window that has rows, into
-- pg_temp.errata_sealing_result. Not safe to repeat.
insert into pg_temp.errata_sealing_result (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  m.window_start, m.window_end, /*:each key*/ m./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ /*:merged_measure*/sum(m.revenue)::numeric/*.*/, /*:end*/ sum(m.event_count)::bigint
from (
  select p.window_start, p.window_end, /*:each key*/ p./*:key*/region/*.*/, /*:end*/ /*:each measure*/ p./*:measure*/revenue/*.*/, /*:end*/ p.event_count
  from pg_temp.errata_ingested as i
  join /*:partial*/errata.daily_orders_partial/*.*/ as p on p.relation_id = i.relation_id
  where i.is_covered
    and p.window_start >= $1::timestamptz
    and p.window_start < $2::timestamptz
  union all
  select s.window_start, s.window_end, /*:each key*/ s./*:key*/region/*.*/, /*:end*/ /*:each measure*/ s./*:measure*/revenue/*.*/, /*:end*/ s.event_count
  from pg_temp.errata_sealing_part as s
) as m
group by m.window_start, m.window_end /*:each key*/ , m./*:key*/region/*.*/ /*:end*/
