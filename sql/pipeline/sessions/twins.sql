-- Classify, sessions: rows that bear an id which the key has seen, or sees twice now (R5). They are few; the loop looks
-- only at them for copies.
--
-- Inputs: pg_temp.errata_arrival, analysed. Rows out: what earlier runs judged, into pg_temp.errata_twin. Safe to repeat:
-- writes work tables only.
update pg_temp.errata_arrival as a
set has_twin = true, twin_of = t.twin_of
from (
  select
    n.place,
    case when f.place <> n.place and abs(extract(epoch from f.event_time - n.event_time)) <= extract(epoch from /*:session_gap*/interval '1800000000 microseconds'/*.*/) then f.place end as twin_of
  from (
    select
      m.*,
      count(*) over (partition by m.key_id, m.event_id) as twins,
      first_value(m.place) over (partition by m.key_id, m.event_id, m.at order by m.row_digest, m.place) as first_place
    from pg_temp.errata_arrival as m
  ) as n
  join pg_temp.errata_arrival as f on f.place = n.first_place
  where n.twins > 1
) as t
where a.place = t.place;

update pg_temp.errata_arrival as a
set has_twin = true
where not a.has_twin
  and (
    exists (
      select from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
      where m.key_id = a.key_id and m.event_id = a.event_id
    )
    or exists (
      select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
      where e.event_id = a.event_id and e.landing = 'side_output' and e.state = 'pending'
    )
  );

insert into pg_temp.errata_twin (key_id, event_id, row_digest, event_time, session_id)
select m.key_id, m.event_id, m.row_digest, '-infinity', m.session_id
from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
where (m.key_id, m.event_id) in (select a.key_id, a.event_id from pg_temp.errata_arrival as a where a.has_twin)
  and m.copy_since is null;

insert into pg_temp.errata_twin (key_id, event_id, row_digest, event_time)
select k.key_id, e.event_id, e.row_digest::uuid, e.event_time
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  on k.is_key
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
where e.landing = 'side_output'
  and e.state = 'pending'
  and e.window_start = e.event_time
  and (k.key_id, e.event_id) in (select a.key_id, a.event_id from pg_temp.errata_arrival as a where a.has_twin)
