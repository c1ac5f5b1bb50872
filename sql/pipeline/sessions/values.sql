-- Seal and recompute, sessions: the measures of each session in the work table, over its recorded rows, read whole from
-- bronze (R6s, R7).
--
-- $1 events_from, $2 events_to: all event times of those sessions, half-open
-- $3 ingested_from: no row of them was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
--
-- Inputs: pg_temp.errata_session_target and errata_session_member, analysed; bronze. Rows out: one a session and set of
-- rows that bronze has rows of, into pg_temp.errata_session_value; `found`: how many of the recorded rows. Safe to repeat:
-- writes work tables only.
--
-- A table of its own and no subquery of what comes next: nothing tells the planner how many rows bear a digest, it takes
-- one for all, and 18,000 sessions were then looked up in each other for a minute.
with counted_row as (
  select m.target as errata_target, m.session_id as errata_session_id, r.*, row_number() over (partition by m.target, m.session_id, m.event_id, m.row_digest) as errata_twin
  from pg_temp.errata_session_target as t
  join pg_temp.errata_session_member as m
    on m.target = t.target
    and m.session_id = t.session_id
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= t.window_start
    and r.errata_event_time < t.window_end
    and r.errata_event_id = m.event_id
    and r.errata_row_digest::uuid = m.row_digest
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $2::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_is_valid
)
-- measured
insert into pg_temp.errata_session_value (target, session_id, found, event_count /*:each measure*/ , /*:measure*/revenue/*.*/ /*:end*/)
select
  r.errata_target,
  r.errata_session_id,
  count(*) filter (where r.errata_twin = 1),
  count(*)
  /*:each measure*/ , /*:measure_value*/sum(amount)/*.*/ /*:end*/
from counted_row as r
where r.errata_twin = 1 or /*:unique_rows*/false/*.*/
group by r.errata_target, r.errata_session_id
