-- How one rollup stands, from the control tables alone. Rows out: one.
--
-- $1 rollup_id: integer
-- $2 at: instant from which ages are reckoned
--
-- The cost does not follow the length of history: single rows by an index, what stands open,
-- and the runs of the last day, at most the last thousand of them. Safe to repeat: it reads.
select
  extract(epoch from $2::timestamptz - r.created_at)::text as age,
  s.run_id::text as last_success_run_id,
  s.finished_at::text as last_success,
  extract(epoch from $2::timestamptz - s.finished_at)::text as last_success_age,
  l.outcome as last_outcome,
  l.run_id::text as last_run_id,
  l.failure ->> 'message' as last_failure,
  r.frontier::text as frontier,
  r.sealed_until::text as watermark,
  case when isfinite(r.sealed_until) then extract(epoch from $2::timestamptz - r.sealed_until)::text end as watermark_lag,
  r.complete_from::text as complete_from,
  (select t.total::text from /*:schema*/errata/*.*/.run_total as t where t.rollup_id = r.rollup_id and t.name = 'windows_sealed') as windows_sealed,
  (select t.total::text from /*:schema*/errata/*.*/.run_total as t where t.rollup_id = r.rollup_id and t.name = 'windows_corrected') as windows_corrected,
  p.open_proposals::text as open_proposals,
  p.held_proposals::text as held_proposals,
  w.swept_at::text as swept_at,
  w.counts ->> 'unexplained' as unexplained,
  round(e.side_output / nullif(e.rows_examined, 0), 10)::text as side_output_share,
  case when a.act = 'pause' then a.actor end as paused_by,
  case when a.act = 'pause' then a.acted_at::text end as paused_at,
  case when a.act = 'pause' then a.reason end as paused_for,
  b.failures::text as schedule_failures,
  b.next_attempt_at::text as next_attempt_at,
  b.error as schedule_error
from /*:schema*/errata/*.*/.rollup as r
left join lateral (
  select u.run_id, u.finished_at
  from /*:schema*/errata/*.*/.run as u
  where u.rollup_id = r.rollup_id and u.outcome in ('done', 'attention')
  order by u.run_id desc
  limit 1
) as s on true
left join lateral (
  select u.run_id, u.outcome, u.failure
  from /*:schema*/errata/*.*/.run as u
  where u.rollup_id = r.rollup_id and u.outcome <> 'running'
  order by u.run_id desc
  limit 1
) as l on true
left join lateral (
  select
    count(*) filter (where not o.is_held) as open_proposals,
    count(*) filter (where o.is_held) as held_proposals
  from /*:schema*/errata/*.*/.proposal as o
  where o.rollup_id = r.rollup_id and o.state = 'open'
) as p on true
left join lateral (
  select n.swept_at, n.counts
  from /*:schema*/errata/*.*/.reconciliation as n
  where n.rollup_id = r.rollup_id
  order by n.reconciliation_id desc
  limit 1
) as w on true
left join lateral (
  select c.act, c.actor, c.acted_at, c.reason
  from /*:schema*/errata/*.*/.rollup_act as c
  where c.rollup_id = r.rollup_id and c.act in ('pause', 'resume')
  order by c.act_id desc
  limit 1
) as a on true
left join lateral (
  select
    sum((u.counts ->> 'rows_examined')::numeric) as rows_examined,
    sum((u.counts ->> 'side_output')::numeric) as side_output
  from (
    select f.finished_at, f.counts
    from /*:schema*/errata/*.*/.run as f
    where f.rollup_id = r.rollup_id and f.outcome in ('done', 'attention')
    order by f.run_id desc
    limit 1000
  ) as u
  where u.finished_at > $2::timestamptz - interval '1 day'
) as e on true
left join /*:schema*/errata/*.*/.back_off as b on b.rollup_id = r.rollup_id
where r.rollup_id = $1::integer
