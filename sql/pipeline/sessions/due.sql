-- Seal, sessions: those whose end the watermark has reached and whose version 1 is still to be written (R8).
--
-- $1 until: the watermark that seals, of keys without a delay of their own
-- $2 complete_from: bronze is complete from here on (R15)
--
-- Rows out: one a session, into pg_temp.errata_session_target, and its rows into pg_temp.errata_session_member: those that
-- arrived before the watermark reached the end. Safe to repeat: writes work tables only.
with due as (
  insert into pg_temp.errata_session_target (target, session_id, window_start, window_end)
  select 'open', s.session_id, s.window_start, s.window_end
  from /*:session*/errata.daily_orders_session/*.*/ as s
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
  /*:session_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[k.region]/*.*/
  where s.is_seal_due
    and s.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
    and s.window_start >= $2::timestamptz
  returning session_id, window_start, window_end
)
insert into pg_temp.errata_session_member (target, session_id, event_id, row_digest)
select 'open', d.session_id, m.event_id, m.row_digest
from due as d
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = d.session_id
join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = m.key_id
where not (m.is_late and m.session_id = d.session_id)
  and not exists (
    select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
    where x.session_id = d.session_id and x.part_id = m.copy_since
  )
  -- a row of a session that this one replaced may wait for a person, or be set aside
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = d.window_start
      and e.window_end = d.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
      and e.event_id = m.event_id
      and (e.state in ('waived', 'held') or (e.state = 'pending' and not e.released))
  )
