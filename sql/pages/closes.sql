-- The closes of one rollup, the latest first, and what each period came to when it was closed (R12). Rows out: one a close, at
-- most $2.
--
-- $1 rollup_id: integer
-- $2 at_most: integer
-- $3 at: instant at which a reopening has expired or not
--
-- Safe to repeat: it reads.
select
  a.act_id::text as act_id,
  a.period,
  a.period_start::text as period_start,
  a.period_end::text as period_end,
  a.act,
  a.posting_role,
  a.is_forced,
  a.actor,
  a.reason,
  a.acted_at::text as closed_at,
  o.acted_at::text as reopened_at,
  o.actor as reopened_by,
  o.expires_at::text as open_until,
  coalesce(o.expires_at > $3::timestamptz, false) as is_open,
  t.keyed_windows::text as keyed_windows,
  t.measures,
  t.restated
from (
  select p.*
  from /*:schema*/errata/*.*/.period_act as p
  where p.rollup_id = $1::integer and p.act <> 'reopen'
  order by p.period_start desc, p.act_id desc
  limit $2::integer
) as a
left join lateral (
  select r.expires_at, r.acted_at, r.actor
  from /*:schema*/errata/*.*/.period_act as r
  where r.rollup_id = a.rollup_id
    and r.act = 'reopen'
    and r.act_id > a.act_id
    and r.period_start <= a.period_start
    and r.period_end > a.period_start
  order by r.act_id desc
  limit 1
) as o on true
cross join lateral (
  select
    coalesce(sum(s.keyed_windows), 0) as keyed_windows,
    '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, coalesce(sum((s.measures ->> /*:measure_name*/'revenue'/*.*/)::numeric), 0)::text) /*:end*/ as measures,
    '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, coalesce(sum((s.restated ->> /*:measure_name*/'revenue'/*.*/)::numeric), 0)::text) /*:end*/ as restated
  from /*:schema*/errata/*.*/.period_total as s
  where s.act_id = a.act_id
) as t
order by a.period_start desc, a.act_id::bigint desc
