-- Reconcile: event ids that rows of several event times bear. One aggregate over the rows of the span, which goes to disk
-- beyond work_mem.
--
-- $1 events_from, $2 events_to: event times, half-open; null: without an end
--
-- Rows out: one an id, into pg_temp.errata_shared_id. Safe to repeat: writes a work table only.
insert into pg_temp.errata_shared_id (event_id)
select r.errata_event_id
from /*:source*/errata.daily_orders_source/*.*/ () as r
where (r.errata_event_time >= $1::timestamptz or $1::timestamptz is null)
  and (r.errata_event_time < $2::timestamptz or $2::timestamptz is null)
  and r.errata_is_valid
group by r.errata_event_id
having min(r.errata_event_time) <> max(r.errata_event_time)
