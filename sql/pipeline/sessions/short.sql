-- Seal, sessions: those that are due and miss rows though no ingestion partition that may have held them is gone: the rows
-- were deleted or changed before anything shipped (R15).
--
-- $1 rollup_id: integer
--
-- Inputs: pg_temp.errata_session_target, after seal.sql. Rows out: one a session, into pg_temp.errata_amended.
-- Safe to repeat: writes work tables only.
insert into pg_temp.errata_amended (window_start, window_end /*:each key*/ , /*:key*/region/*.*/ /*:end*/)
select s.window_start, s.window_end /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
from pg_temp.errata_session_target as t
join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = t.session_id
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
where s.is_seal_due
  and s.replaced_by is null
  and not exists (
    select from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $1::integer
      and p.gone_at is not null
      and p.event_time_from < s.window_end
      and p.event_time_to >= s.window_start
  )
