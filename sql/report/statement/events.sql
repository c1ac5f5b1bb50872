-- Statement, events: every late event of the period by name, in the state that it had then (R7).
--
-- Inputs: pg_temp.errata_stated_event. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_events as
select
  e.window_start,
  e.window_end,
  e.local_date,
  /*:each key*/ e./*:key*/region/*.*/, /*:end*/
  e.event_id,
  e.landing,
  e.state,
  e.cause,
  e.version,
  /*:each measure*/ e./*:measure*/revenue/*.*/, /*:end*/
  e.event_time,
  e.arrived_at,
  e.ingested_at,
  e.lateness_seconds,
  e.watermark,
  e.source_partition,
  e.quarantine_reason,
  e.is_conflict,
  e.state_actor as actor,
  e.state_reason as reason,
  e.errata_first_seen,
  e.errata_since as errata_known_from,
  e.row_digest
from pg_temp.errata_stated_event as e
