-- Overrides: what in the user's table cannot be followed. Rows out: one a fault, as a sentence; at most five.
-- Safe to repeat: it reads.
with listed as (
  select
    jsonb_build_object(/*:override_pairs*/'region', t.region::text/*.*/) as key,
    /*:override_delay*/t.delay/*.*/ as delay,
    /*:override_lateness*/t.allowed_lateness/*.*/ as lateness
  from /*:override_table*/ops.delays/*.*/ as t
),
fault as (
  select l.key, format('stands in it %s times', count(*)) as fact
  from listed as l
  group by l.key
  having count(*) > 1
  union all
  select l.key, format('has the %s %s, which is no span of time', s.name, s.span)
  from listed as l
  cross join lateral (values ('delay', l.delay), ('allowed lateness', l.lateness)) as s (name, span)
  where not isfinite(s.span) or s.span < interval '0'
)
select format('%s %s', f.key, f.fact) as said
from fault as f
order by 1
limit 5
