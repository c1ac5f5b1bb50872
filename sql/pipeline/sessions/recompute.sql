-- Recompute, sessions: what the counted set of each touched session gives, and which of its rows are gone (R7, R15).
--
-- Inputs: pg_temp.errata_session_target and errata_session_value, analysed. Rows out: one a session and set of rows, into
-- pg_temp.errata_result; and with target `shortage` how many recorded rows bronze holds no more, also for the sessions that
-- it replaced, so that none becomes void without it. Safe to repeat: writes work tables only.
insert into pg_temp.errata_result (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  v.target, t.window_start, t.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ v./*:measure*/revenue/*.*/, /*:end*/ v.event_count
from pg_temp.errata_session_value as v
join pg_temp.errata_session_target as t on t.session_id = v.session_id and t.target = v.target
join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = t.session_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
union all
select distinct on (o.window_start, o.window_end /*:each key*/ , k./*:key*/region/*.*/ /*:end*/)
  'shortage', o.window_start, o.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ null, /*:end*/ t.recorded - coalesce(v.found, 0)
from pg_temp.errata_session_target as t
left join pg_temp.errata_session_value as v on v.session_id = t.session_id and v.target = t.target
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = t.session_id
join /*:session*/errata.daily_orders_session/*.*/ as o on o.session_id = p.part_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = o.key_id
where t.target = 'counted' and t.recorded > coalesce(v.found, 0)
