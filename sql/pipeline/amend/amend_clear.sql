-- Amend: take away what the rows that are there now no longer bear out: the copies of those ids, conflicts that are none
-- any more, and a second state of one event. Several statements; rows out: none. Safe to repeat.
delete from /*:copy*/errata.daily_orders_copy/*.*/ as c
using pg_temp.errata_amended_id as i
where c.window_start = i.window_start
  and c.window_end = i.window_end
  and c.event_id = i.event_id;

delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
using pg_temp.errata_amended_id as i
where e.window_start = i.window_start
  and e.window_end = i.window_end
  and e.event_id = i.event_id
  and e.is_conflict
  and e.landing is null
  and not exists (
    select from pg_temp.errata_amended_row as r
    join pg_temp.errata_amended_row as f
      on f.errata_window_start = r.errata_window_start
      and f.errata_window_end = r.errata_window_end
      and f.errata_event_id = r.errata_event_id
      and f.errata_place = 1
    where r.errata_window_start = i.window_start
      and r.errata_window_end = i.window_end
      and r.errata_event_id = i.event_id
      and r.errata_row_digest = e.row_digest
      and r.errata_place > 1
      and r.errata_payload <> f.errata_payload
  );

-- An event that was judged keeps its state (R6); what this run or a later one took for another event is the same, changed.
delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
using pg_temp.errata_amended as a
where e.window_start = a.window_start
  and e.window_end is not distinct from a.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  and e.landing is not null
  and e.state is distinct from 'included'
  and exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as o
    where o.window_start = e.window_start
      and o.window_end is not distinct from e.window_end
      /*:each key*/ and array[o./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
      and o.event_id = e.event_id
      and o.landing is not null
      and (o.state is not distinct from 'included', o.state is not null, -o.first_run_id, o.row_digest)
        > (false, e.state is not null, -e.first_run_id, e.row_digest)
  )
