-- Recompute, sessions: the measures of each touched session, over its recorded rows, read whole from bronze (R6s, R7).
--
-- $1 events_from, $2 events_to: all event times of those sessions, half-open
-- $3 ingested_from: no row of them was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
--
-- Inputs: pg_temp.errata_session_target and errata_session_member, analysed; bronze. Rows out: one a session and target
-- that has rows, into pg_temp.errata_result; and with target `shortage` how many recorded rows bronze holds no more, also
-- for the sessions that it replaced, so that none becomes void without it (R15). Safe to repeat: writes work tables only.
with counted_row as (
  select m.target as errata_target, m.session_id as errata_session_id, r.*, row_number() over (partition by m.target, m.session_id, m.event_id, m.row_digest) as errata_twin
  from pg_temp.errata_session_target as t
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= t.window_start
    and r.errata_event_time < t.window_end
  join pg_temp.errata_session_member as m
    on m.target = t.target
    and m.session_id = t.session_id
    and m.event_id = r.errata_event_id
    and m.row_digest = r.errata_row_digest::uuid
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $2::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
),
shortage as (
  select n.session_id, n.rows - coalesce(f.rows, 0) as missing
  from (
    select m.session_id, count(*) as rows
    from pg_temp.errata_session_member as m
    where m.target = 'counted'
    group by m.session_id
  ) as n
  left join (
    select r.errata_session_id as session_id, count(*) as rows
    from counted_row as r
    where r.errata_target = 'counted' and r.errata_twin = 1
    group by r.errata_session_id
  ) as f using (session_id)
  where n.rows > coalesce(f.rows, 0)
)
insert into pg_temp.errata_result (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  v.target, t.window_start, t.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ v./*:measure*/revenue/*.*/, /*:end*/ v.event_count
from (
  select r.errata_target as target, r.errata_session_id as session_id, /*:each measure*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as event_count
  from counted_row as r
  where r.errata_twin = 1 or /*:unique_rows*/false/*.*/
  group by r.errata_target, r.errata_session_id
) as v
join pg_temp.errata_session_target as t on t.session_id = v.session_id and t.target = v.target
join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = t.session_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
union all
select distinct on (o.window_start, o.window_end /*:each key*/ , k./*:key*/region/*.*/ /*:end*/)
  'shortage', o.window_start, o.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ null, /*:end*/ h.missing
from shortage as h
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = h.session_id
join /*:session*/errata.daily_orders_session/*.*/ as o on o.session_id = p.part_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = o.key_id
