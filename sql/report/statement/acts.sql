-- Statement, acts: who said what about this period by then: closes, releases, approvals, waivers, restatements (R10, R12).
--
-- A row an act, with how many versions, events and proposals of the period it changed. Inputs: pg_temp.errata_statement. Rows
-- out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_acts as
with stated as (
  select e.known_from_run_id as run_id
  from /*:published_late_event*/gold.daily_orders_late_event/*.*/ as e
  join pg_temp.errata_statement as b on e.window_start >= b.period_start and e.window_start < b.period_end
  union all
  select e.known_from_run_id
  from /*:past_state*/errata.daily_orders_past_state/*.*/ as e
  join pg_temp.errata_statement as b on e.window_start >= b.period_start and e.window_start < b.period_end
),
changed as (
  select g.run_id, 1 as version, 0 as event, 0 as proposal from pg_temp.errata_stated_version as g
  union all
  select e.run_id, 0, 1, 0 from stated as e
  union all
  select o.decided_run_id, 0, 0, 1 from pg_temp.errata_stated_proposal as o where o.decided_by is not null
  union all
  select a.run_id, 0, 0, 0
  from pg_temp.errata_statement as b
  join /*:schema*/errata/*.*/.period_act as a
    on a.rollup_id = b.rollup_id
    and a.period_start < b.period_end
    and a.period_end > b.period_start
    and a.acted_at <= b.stamp
),
by_run as (
  select c.run_id, sum(c.version) as versions, sum(c.event) as events, sum(c.proposal) as proposals
  from changed as c
  where c.run_id is not null
  group by c.run_id
)
select
  r.stamp,
  coalesce(a.act, r.verb) as act,
  r.actor,
  r.db_role,
  r.reason,
  c.versions::bigint as versions,
  c.events::bigint as events,
  c.proposals::bigint as proposals,
  a.period,
  a.is_forced,
  a.posting_role,
  a.expires_at,
  r.run_id
from pg_temp.errata_statement as b
join /*:schema*/errata/*.*/.run as r
  on r.rollup_id = b.rollup_id
  and r.actor is not null
  and r.stamp <= b.stamp
join by_run as c on c.run_id = r.run_id
left join /*:schema*/errata/*.*/.period_act as a on a.run_id = r.run_id
