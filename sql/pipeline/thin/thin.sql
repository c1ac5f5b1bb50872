-- Thin: of the runs whose time is up, those go that changed nothing and to which nothing refers, and with them the due moments
-- that they answered. The next ones in the order of runs are looked at, once each.
--
-- $1 rollup_id: integer
-- $2 stamp: instant of publication of this run
-- $3 keep: interval, how long they are kept
-- $4 at_most: integer, so many are looked at
-- $5 keeps_rows: text, `true`: rows of bronze are recorded with the run that examined them, as for sessions
--
-- What a run says that it did is what refers to it: versions, late events, proposals and sessions name it only where a count
-- says so. Foreign keys stand behind that. These stay: a word of a person; a link of the chain; the last run, the last that
-- succeeded and the last that failed; the last moment answered; and for reports of then, whose rows end at the bound of the
-- last run until then, the last run of each day and the last before each mark.
--
-- Rows out: one, with how many were looked at and how many went. Safe to repeat: it goes on where it was.
with next_run as (
  select u.*, bool_and(u.started_at < $2::timestamptz - $3::interval) over (order by u.run_id) as is_due
  from (
    select u.*
    from /*:schema*/errata/*.*/.rollup as r
    join /*:schema*/errata/*.*/.run as u on u.rollup_id = r.rollup_id and u.run_id > r.thinned_run_id
    where r.rollup_id = $1::integer
    order by u.run_id
    limit $4::integer
  ) as u
),
looked_at as (
  update /*:schema*/errata/*.*/.rollup as r
  set thinned_run_id = d.last_run_id
  from (select max(n.run_id) as last_run_id, count(*) as runs from next_run as n where n.is_due) as d
  where r.rollup_id = $1::integer and d.runs > 0
  returning d.runs
),
idle as (
  select u.run_id
  from next_run as u
  left join lateral (
    select s.stamp
    from /*:schema*/errata/*.*/.run as s
    where s.rollup_id = $1::integer and s.run_id > u.run_id and s.outcome in ('done', 'attention')
    order by s.run_id
    limit 1
  ) as s on true
  where u.is_due
    and u.verb = 'run'
    and u.actor is null
    and u.hash is null
    and s.stamp is not null
    and case u.outcome
      when 'failed' then exists (
        select from /*:schema*/errata/*.*/.run as f
        where f.rollup_id = $1::integer and f.run_id > u.run_id and f.outcome = 'failed'
      )
      else u.outcome in ('done', 'attention')
        and date_trunc('day', u.stamp, 'UTC') = date_trunc('day', s.stamp, 'UTC')
        and not exists (
          select from /*:schema*/errata/*.*/.mark as m
          where m.stamp >= u.stamp and m.stamp < s.stamp
        )
        and not exists (
          select
          from jsonb_each_text(u.counts) as c
          where c.value::numeric <> 0
            -- what stood so before the run and after it
            and c.key not in (
              'windows_touched', 'windows_blocked', 'windows_failing', 'sealing_blocked', 'proposals_waiting', 'refused_waiting',
              'refused_judged_otherwise', 'stream_dropped', 'stream_dropped_shown'
            )
            and (c.key <> 'rows_examined' or $5::text = 'true')
        )
        -- what it took from the queue it put back
        and coalesce((u.counts ->> 'windows_touched')::numeric, 0)
          <= coalesce((u.counts ->> 'windows_blocked')::numeric, 0) + coalesce((u.counts ->> 'windows_failing')::numeric, 0)
    end
    and not exists (select from /*:ledger*/gold.daily_orders/*.*/ as g where g.run_id = u.run_id)
    and not exists (select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e where e.first_run_id = u.run_id)
    and not exists (select from /*:schema*/errata/*.*/.proposal as o where o.run_id = u.run_id)
    and not exists (select from /*:schema*/errata/*.*/.outbox as o where o.run_id = u.run_id)
    and not exists (select from /*:schema*/errata/*.*/.period_act as a where a.run_id = u.run_id)
    and not exists (select from /*:schema*/errata/*.*/.refused_entry as w where w.first_run_id = u.run_id)
    and not exists (select from /*:schema*/errata/*.*/.refused_entry as w where w.found_run_id = u.run_id)
    and not exists (select from /*:schema*/errata/*.*/.reconciliation as n where n.run_id = u.run_id)
    and not exists (
      select from /*:schema*/errata/*.*/.due_moment as m
      where m.run_id = u.run_id
        and not exists (
          select from /*:schema*/errata/*.*/.due_moment as l
          where l.rollup_id = $1::integer and l.due_at > m.due_at
        )
    )
),
answered as (
  delete from /*:schema*/errata/*.*/.due_moment as m
  using idle as i
  where m.run_id = i.run_id
),
gone as (
  delete from /*:schema*/errata/*.*/.run as u
  using idle as i
  where u.run_id = i.run_id
  returning u.run_id
)
select
  coalesce((select d.runs from looked_at as d), 0)::text as looked_at,
  (select count(*) from gone)::text as gone
