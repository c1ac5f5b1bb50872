-- Reconcile: events kept by name whose row bronze does not hold any more, of keyed windows that do not add up.
--
-- $1 events_from, $2 events_to: all event times of those windows, half-open
--
-- Inputs: pg_temp.errata_compared. Rows out: one an event, into pg_temp.errata_finding. One whose id bronze still holds in
-- the keyed window was changed and not deleted. Safe to repeat: writes work tables only.
insert into pg_temp.errata_finding (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail, events /*:each additive*/ , /*:measure*/revenue/*.*/ /*:end*/
)
select
  e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/
  'refused but not in bronze', e.event_id, e.row_digest,
  jsonb_build_object(
    'landing', e.landing, 'state', e.state, 'version', e.version,
    'event_time', e.event_time::text, 'ingested_at', e.ingested_at::text
  ),
  -1 /*:each additive*/ , -e./*:measure*/revenue/*.*/ /*:end*/
from pg_temp.errata_compared as c
join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  on e.window_start = c.window_start
  and e.window_end = c.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
where c.errata_why is null
  and c.errata_missing > 0
  and e.state is not null
  and e.gone_run_id is null
  and not exists (
    select from /*:source*/errata.daily_orders_source/*.*/ () as r
    where r.errata_event_id = e.event_id
      and r.errata_event_time >= e.window_start
      and r.errata_event_time < e.window_end
      /*:each key*/ and array[r./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
      and r.errata_event_time >= $1::timestamptz
      and r.errata_event_time < $2::timestamptz
      and r.errata_is_valid
  )
