-- How far the keys of one window are sealed, where keys have delays of their own. Rows out: one.
--
-- $1 rollup_id: integer
-- $2 window_end: of the window
-- $3 key: jsonb, an object of key columns and their texts; where it leaves several to choose from, the one that is least far
--
-- Safe to repeat: it reads.
with kept as (
  select
    greatest(o.errata_sealed_floor, r.sealed_until + o.errata_shift) as sealed_until,
    jsonb_build_object(/*:kept_pairs*/'region', o.region::text/*.*/) as key
  from /*:override*/errata.daily_orders_override/*.*/ as o
  join /*:schema*/errata/*.*/.rollup as r on r.rollup_id = $1::integer
),
meant as (
  select
    bool_or($3::jsonb @> k.key) as is_named,
    min(k.sealed_until) as sealed_until
  from kept as k
  where not exists (
    select from jsonb_each_text(k.key) as e (name, value)
    where $3::jsonb ? e.name and $3::jsonb ->> e.name is distinct from e.value
  )
)
select
  u.sealed_until::text as sealed_until,
  coalesce(u.sealed_until < $2::timestamptz, true) as is_open
from /*:schema*/errata/*.*/.rollup as r
cross join meant as m
cross join lateral (
  select case when m.is_named then m.sealed_until else least(r.sealed_until, m.sealed_until) end as sealed_until
) as u
where r.rollup_id = $1::integer
