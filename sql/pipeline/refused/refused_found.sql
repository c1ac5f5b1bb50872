-- Refused: entries whose row this run found in bronze are answered; the others wait for theirs.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
--
-- Inputs: pg_temp.errata_candidate, the late events. Rows out: one, the counts of the entries: `waiting`, and of those
-- answered now `judged_otherwise`: their row had been judged before they were written. Safe to repeat.
with answered as (
  update /*:schema*/errata/*.*/.refused_entry as e
  set found_run_id = $2::bigint, landing = s.landing
  from (
    select distinct on (n.refused_entry_id)
      n.refused_entry_id,
      case when c.errata_landing = 'quarantined' then 'quarantined' else coalesce(l.landing, 'copy') end as landing
    from pg_temp.errata_candidate as c
    join /*:schema*/errata/*.*/.refused_entry as n
      on n.rollup_id = $1::integer
      and n.found_run_id is null
      and n.event_id = c.errata_event_id
      and (
        c.errata_landing = 'quarantined'
        or (
          (n.event_time = c.errata_event_time or n.event_time is null)
          and (n.window_start = c.window_start or n.window_start is null)
          and (n.window_end = c.window_end or n.window_end is null)
        )
      )
    left join /*:late_event*/gold.daily_orders_late_event/*.*/ as l
      on l.window_start = c.window_start
      and l.window_end = c.window_end
      and l.event_id = c.errata_event_id
      and l.row_digest = c.errata_row_digest
      and l.landing is not null
    order by n.refused_entry_id, l.landing is distinct from 'side_output', l.landing
  ) as s
  where e.refused_entry_id = s.refused_entry_id
  returning e.refused_entry_id, e.landing
)
select
  (
    select count(*)
    from /*:schema*/errata/*.*/.refused_entry as e
    where e.rollup_id = $1::integer and e.found_run_id is null
  ) - (select count(*) from answered) as waiting,
  (
    select count(*)
    from /*:schema*/errata/*.*/.refused_entry as e
    where e.rollup_id = $1::integer and e.found_run_id = $2::bigint and e.landing in ('open', 'late_firing')
  ) + (select count(*) from answered as a where a.landing in ('open', 'late_firing')) as judged_otherwise
