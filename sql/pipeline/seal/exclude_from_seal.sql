-- Exclude, for the windows to seal: what landed late or in quarantine, and the copies (R5, R8).
--
-- $1 sealing_from, $2 sealing_to: where the windows to seal start, half-open
-- $3 baseline: boolean; late rows count too
--
-- Rows out: into pg_temp.errata_excluded and pg_temp.errata_copied. Safe to repeat: writes work tables only.
with copied as (
  insert into pg_temp.errata_copied
  select 'open', c.*
  from /*:copy*/errata.daily_orders_copy/*.*/ as c
  where c.window_start >= $1::timestamptz and c.window_start < $2::timestamptz
)
insert into pg_temp.errata_excluded (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id)
select 'open', e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.event_id
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.window_start >= $1::timestamptz
  and e.window_start < $2::timestamptz
  and e.landing in ('late_firing', 'side_output', 'quarantined')
  and not $3::boolean
