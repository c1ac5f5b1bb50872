-- Where what the stream wrote contradicts the settings, which must be those of the stream (R2, R3).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint, what this run found; null: all that runs have found
-- $3 allowed_lateness: interval, as configured
-- $4 delay: interval, the stream's own as configured beside its log; null: there is none to compare
-- $5 compares_refused: boolean; the refused rows are compared with those that were judged by the log
--
-- Rows out: one a contradiction.
--
--   kind           rows                                                          implied
--   refused_early  entries whose watermark had not passed end + lateness         the stream's lateness is at most that
--   refused_there  rows that it refused and that are open or late firings here   the same; null where all are open
--   refused_here   rows in the side output that it did not refuse, once a        its lateness is more than that
--                  further run had time to see an entry
--   delay          null: the log's watermark lies nearer to the greatest event   its delay is at most that
--                  time than the delay
--
-- Instants that the stream does not write contradict nothing. Safe to repeat: it reads.
with entry as (
  select
    e.*,
    -- refused in each window that it names; where it names none, at least in the one that ends first
    coalesce(
      e.window_end,
      (
        select min(w.window_end)
        from /*:windows*/errata.daily_orders_windows/*.*/ (
          case when isfinite(s.at) then s.at end
        ) as w
        where w.window_start = e.window_start or e.window_start is null
      )
    ) as missed_end
  from /*:schema*/errata/*.*/.refused_entry as e
  cross join lateral (
    select coalesce(
      e.window_start,
      e.event_time,
      (
        select min(l.event_time)
        from /*:late_event*/gold.daily_orders_late_event/*.*/ as l
        where l.event_id = e.event_id and l.landing = 'side_output'
      )
    ) as at
  ) as s
  where e.rollup_id = $1::integer
    and (e.first_run_id = $2::bigint or e.found_run_id = $2::bigint or $2::bigint is null)
),
refused_early as (
  select count(*) as rows, min(n.watermark - n.missed_end) as implied
  from entry as n
  where n.watermark < n.missed_end + $3::interval
    and isfinite(n.watermark)
    and isfinite(n.missed_end)
    and (n.first_run_id = $2::bigint or $2::bigint is null)
),
refused_there as (
  select count(*) as rows, min(l.watermark - l.missed_end) as implied
  from entry as n
  left join lateral (
    select l.watermark, /*:least_end*/l.window_end/*.*/ as missed_end
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as l
    where l.event_id = n.event_id
      and l.landing = 'late_firing'
      and (l.event_time = n.event_time or n.event_time is null)
      and (l.window_start = n.window_start or n.window_start is null)
      and (l.window_end = n.window_end or n.window_end is null)
    order by l.watermark - /*:least_end*/l.window_end/*.*/
    limit 1
  ) as l on true
  where $5::boolean
    and n.landing in ('open', 'late_firing')
    and (n.found_run_id = $2::bigint or $2::bigint is null)
),
examined as (
  select max(u.run_id) as last_run
  from /*:schema*/errata/*.*/.run as u
  where u.rollup_id = $1::integer
    and u.outcome in ('done', 'attention')
    and (u.run_id < $2::bigint or $2::bigint is null)
),
refused_here as (
  select count(*) as rows, max(l.watermark - l.window_end) as implied
  from examined as x
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as l
    on case when $2::bigint is null then l.first_run_id < x.last_run else l.first_run_id = x.last_run end
  where $5::boolean
    and l.landing = 'side_output'
    and not exists (
      select from /*:schema*/errata/*.*/.refused_entry as e
      where e.rollup_id = $1::integer
        and e.event_id = l.event_id
        and (e.event_time = l.event_time or e.event_time is null)
        and (e.window_start = l.window_start or e.window_start is null)
        and (e.window_end = l.window_end or e.window_end is null)
    )
),
behind as (
  select
    (select max(i.event_time_to) from /*:schema*/errata/*.*/.ingestion_partition as i where i.rollup_id = $1::integer)
      - (select max(p.watermark) from /*:schema*/errata/*.*/.source_partition as p where p.rollup_id = $1::integer) as implied
)
select c.kind, c.rows::text as rows, extract(epoch from c.implied)::text as implied_seconds
from (
  select 1 as place, 'refused_early' as kind, r.rows, r.implied from refused_early as r where r.rows > 0
  union all
  select 2, 'refused_there', r.rows, r.implied from refused_there as r where r.rows > 0
  union all
  select 3, 'refused_here', r.rows, r.implied from refused_here as r where r.rows > 0
  union all
  select 4, 'delay', null, b.implied from behind as b where b.implied < $4::interval
) as c
order by c.place
