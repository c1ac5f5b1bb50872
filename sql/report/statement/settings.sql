-- Statement, settings: what the numbers were computed by: the definition in force then, and those of the versions (R10).
--
-- Inputs: pg_temp.errata_statement, errata_stated_version. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_settings as
with carried as (
  select g.definition_fingerprint as fingerprint, count(*) as versions
  from pg_temp.errata_stated_version as g
  group by g.definition_fingerprint
),
in_force as (
  select d.definition_fingerprint as fingerprint
  from pg_temp.errata_statement as b
  join /*:schema*/errata/*.*/.applied_definition as d on d.rollup_id = b.rollup_id and d.applied_at <= b.stamp
  order by d.applied_at desc, d.applied_id desc
  limit 1
)
select
  d.fingerprint,
  f.fingerprint is not null as in_force,
  coalesce(c.versions, 0) as versions,
  s.section,
  coalesce(n.name, '') as name,
  coalesce(n.value, s.value #>> '{}') as value
from /*:schema*/errata/*.*/.definition as d
left join carried as c on c.fingerprint = d.fingerprint
left join in_force as f on f.fingerprint = d.fingerprint
cross join lateral jsonb_each(d.definition) as s (section, value)
left join lateral (
  select m.name, m.value
  from jsonb_each_text(case when jsonb_typeof(s.value) = 'object' then s.value else '{}' end) as m (name, value)
  where s.section <> 'types'
  union all
  select t.kind || '.' || m.name, m.value
  from jsonb_each(case when s.section = 'types' then s.value else '{}' end) as t (kind, value)
  cross join lateral jsonb_each_text(t.value) as m (name, value)
) as n on true
where c.fingerprint is not null or f.fingerprint is not null
