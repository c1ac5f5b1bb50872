-- Reconcile: the span of a period of the calendar (R12). Rows out: one, or none where the calendar has none of that name.
--
-- $1 period: text
--
-- Safe to repeat: it reads.
select p.period_start::text as "from", p.period_end::text as "to"
from (values ($1::text)) as n (name)
cross join lateral /*:period_by_name*/(
  select n.name as period, (n.name || '-01')::timestamp at time zone 'UTC' as period_start, ((n.name || '-01')::timestamp + interval '1 month') at time zone 'UTC' as period_end
)/*.*/ as p
