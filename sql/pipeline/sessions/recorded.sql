-- Seal and recompute, sessions: how many rows of each session in the work table are recorded.
--
-- Inputs: pg_temp.errata_session_member, analysed. Rows out: one a session and set of rows. Safe to repeat: writes work
-- tables only.
update pg_temp.errata_session_target as t
set recorded = m.recorded
from (
  select m.target, m.session_id, count(*) as recorded
  from pg_temp.errata_session_member as m
  group by m.target, m.session_id
) as m
where m.target = t.target and m.session_id = t.session_id
