-- Recompute, sessions: the sessions of the touched keyed windows, and the rows that each set of rows counts (R6s, R7).
--
-- Inputs: pg_temp.errata_touched and errata_excluded, analysed. A session that was replaced counts nothing. Rows out: one a
-- row, into pg_temp.errata_session_member; the sessions into pg_temp.errata_session_target. Safe to repeat: writes work
-- tables only.
truncate pg_temp.errata_session_target, pg_temp.errata_session_member, pg_temp.errata_session_value;

insert into pg_temp.errata_session_target (target, session_id, window_start, window_end)
select t.target, s.session_id, t.window_start, t.window_end
from pg_temp.errata_touched as t
cross join lateral (
  select s.session_id
  from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  join /*:session*/errata.daily_orders_session/*.*/ as s on s.key_id = k.key_id
  where k.is_key
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
    and s.window_start = t.window_start
    and s.window_end = t.window_end
    and s.replaced_by is null
) as s;

insert into pg_temp.errata_session_member (target, session_id, event_id, row_digest)
select t.target, t.session_id, m.event_id, m.row_digest
from pg_temp.errata_session_target as t
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = t.session_id
join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = m.key_id
where not (t.target = 'open' and m.is_late and m.session_id = t.session_id)
  and not exists (
    select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
    where x.session_id = t.session_id and x.part_id = m.copy_since
  )
  and not (
    t.target = 'counted'
    and exists (
      select from pg_temp.errata_excluded as n
      where n.target = t.target
        and n.window_start = t.window_start
        and n.window_end = t.window_end
        /*:each key*/ and array[n./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
        and n.event_id = m.event_id
    )
  )
