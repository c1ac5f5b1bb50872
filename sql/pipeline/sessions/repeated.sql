-- Copies, sessions: event ids that several rows of one session bear, since a further row joined the sessions that they
-- counted in (R5, R6s).
--
-- $1 run_id: bigint
-- $2 regrouped: boolean; the rows in pg_temp.errata_joined are those that a person released
--
-- Inputs: pg_temp.errata_joined, errata_arrival. Only sessions that replaced others in this run, or that a row with a known
-- id joined, can have such rows. Rows out: one a session and row, into pg_temp.errata_repeated. Safe to repeat: writes work
-- tables only.
insert into pg_temp.errata_repeated (session_id, window_start, window_end, key_id, event_id, row_digest)
select r.session_id, s.window_start, s.window_end, r.key_id, r.event_id, r.row_digest
from (
  select c.session_id, m.key_id, m.event_id, m.row_digest, count(*) over (partition by c.session_id, m.event_id) as rows_of_id
  from (
    select p.session_id
    from /*:session*/errata.daily_orders_session/*.*/ as o
    join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
    where o.replaced_run_id = $1::bigint
    union
    select j.session_id
    from pg_temp.errata_joined as j
    join pg_temp.errata_arrival as a using (place)
    where a.has_twin or $2::boolean
  ) as c
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = c.session_id
  join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
  where not exists (
    select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
    where x.session_id = c.session_id and x.part_id = m.copy_since
  )
) as r
join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = r.session_id
where r.rows_of_id > 1
