-- What metrics and thresholds say of each rollup, from the control tables alone. Rows out: one a rollup that is in the
-- database. Instants are seconds since 1970.
--
-- The cost does not follow the length of history: single rows by an index, and the runs of the last day, at most the last
-- thousand of them.
--
-- $1 rollups: text[]
-- $2 at: instant; null: the database's clock
--
-- Safe to repeat: it reads.
select
  r.rollup_id,
  r.name as rollup,
  extract(epoch from c.now)::text as now,
  c.now::text as at,
  r.sealed_until::text as sealed_until,
  r.complete_from::text as complete_from,
  extract(epoch from r.created_at)::text as created_at,
  case when isfinite(r.frontier) then extract(epoch from r.frontier)::text end as frontier,
  case when isfinite(r.sealed_until) then extract(epoch from r.sealed_until)::text end as watermark,
  extract(epoch from l.finished_at)::text as last_run_at,
  l.outcome as last_outcome,
  extract(epoch from s.finished_at)::text as last_success_at,
  s.stage_milliseconds,
  t.totals,
  extract(epoch from d.due_at)::text as due_at,
  b.failures as schedule_failures,
  coalesce(a.act = 'pause', false) as is_paused,
  (
    select count(*)
    from /*:schema*/errata/*.*/.proposal as o
    where o.rollup_id = r.rollup_id and o.state = 'open'
  )::text as open_proposals,
  extract(epoch from w.swept_at)::text as reconciled_at,
  w.counts ->> 'unexplained' as unexplained,
  e.first_run_id::text as recent_from_run,
  e.rows_examined::text as recent_rows,
  e.side_output::text as recent_side_output
from /*:schema*/errata/*.*/.rollup as r
cross join (select coalesce($2::timestamptz, clock_timestamp()) as now) as c
left join lateral (
  select u.finished_at, u.outcome
  from /*:schema*/errata/*.*/.run as u
  where u.rollup_id = r.rollup_id and u.outcome <> 'running'
  order by u.run_id desc
  limit 1
) as l on true
left join lateral (
  select u.finished_at, u.stage_milliseconds
  from /*:schema*/errata/*.*/.run as u
  where u.rollup_id = r.rollup_id and u.outcome in ('done', 'attention')
  order by u.run_id desc
  limit 1
) as s on true
left join lateral (
  select jsonb_object_agg(t.name, t.total::text) as totals
  from /*:schema*/errata/*.*/.run_total as t
  where t.rollup_id = r.rollup_id
) as t on true
left join lateral (
  select m.due_at
  from /*:schema*/errata/*.*/.due_moment as m
  where m.rollup_id = r.rollup_id
  order by m.due_at desc
  limit 1
) as d on true
left join /*:schema*/errata/*.*/.back_off as b on b.rollup_id = r.rollup_id
left join lateral (
  select p.act
  from /*:schema*/errata/*.*/.rollup_act as p
  where p.rollup_id = r.rollup_id and p.act in ('pause', 'resume')
  order by p.act_id desc
  limit 1
) as a on true
left join lateral (
  select n.swept_at, n.counts
  from /*:schema*/errata/*.*/.reconciliation as n
  where n.rollup_id = r.rollup_id
  order by n.reconciliation_id desc
  limit 1
) as w on true
left join lateral (
  select
    min(u.run_id) as first_run_id,
    coalesce(sum((u.counts ->> 'rows_examined')::numeric), 0) as rows_examined,
    coalesce(sum((u.counts ->> 'side_output')::numeric), 0) as side_output
  from (
    select f.run_id, f.finished_at, f.counts
    from /*:schema*/errata/*.*/.run as f
    where f.rollup_id = r.rollup_id and f.outcome in ('done', 'attention')
    order by f.run_id desc
    limit 1000
  ) as u
  where u.finished_at > c.now - interval '1 day'
) as e on true
where r.name = any ($1::text[]) and r.dropped_at is null
order by r.name
