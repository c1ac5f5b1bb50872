-- Failing, sessions: those of which a measure cannot be computed are taken out of the work tables (R19). What one of them
-- replaced and stands in the queue waits with it: it becomes void in the run that publishes the one (R6s).
--
-- Inputs: pg_temp.errata_probed, pg_temp.errata_counted. Rows out: one a keyed window, into pg_temp.errata_failing.
-- Safe to repeat: writes work tables only.
with failed as (
  select r.errata_session_id as session_id, min(p.error) as error
  from pg_temp.errata_probed as p
  join pg_temp.errata_counted as r on r.errata_place = p.place
  group by r.errata_session_id
),
without_target as (
  delete from pg_temp.errata_session_target as t
  using failed as f
  where t.session_id = f.session_id
),
without_member as (
  delete from pg_temp.errata_session_member as m
  using failed as f
  where m.session_id = f.session_id
)
insert into pg_temp.errata_failing (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ error)
select o.window_start, o.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/ min(f.error)
from failed as f
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = f.session_id
join /*:session*/errata.daily_orders_session/*.*/ as o on o.session_id = p.part_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = o.key_id
where o.session_id = f.session_id
  or exists (
    select from /*:touched*/errata.daily_orders_touched/*.*/ as q
    where q.window_start = o.window_start
      and q.window_end = o.window_end
      /*:each key*/ and array[q./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
  )
group by o.window_start, o.window_end /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
