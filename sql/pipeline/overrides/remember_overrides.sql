-- Overrides: remember, in the commit that publishes, what the views need of them, and how far each key is sealed.
--
-- $1 sealed_until: the watermark that seals, of keys without a delay of their own
--
-- A row is written only where it changes: a key is sealed until the greater of its floor and the rollup's watermark
-- shifted by its delay. Inputs: pg_temp.errata_override. Rows out: none. Safe to repeat.
with kept as (
  select v.*
  from pg_temp.errata_override as v
  where v.errata_is_listed or v.errata_sealed_until <> $1::timestamptz
),
gone as (
  delete from /*:override*/errata.daily_orders_override/*.*/ as o
  where not exists (
    select from kept as v
    where true /*:each override_by*/ and array[v./*:by*/region/*.*/] = array[o./*:by*/region/*.*/] /*:end*/
  )
)
insert into /*:override*/errata.daily_orders_override/*.*/ as o (
  /*:each override_by*/ /*:by*/region/*.*/, /*:end*/ errata_allowed_lateness, errata_shift, errata_sealed_floor
)
select
  /*:each override_by*/ v./*:by*/region/*.*/, /*:end*/ v.errata_allowed_lateness, v.errata_shift, v.errata_sealed_floor
from kept as v
on conflict on constraint /*:override_once*/daily_orders_override_once/*.*/ do update
  set
    errata_allowed_lateness = excluded.errata_allowed_lateness,
    errata_shift = excluded.errata_shift,
    errata_sealed_floor = excluded.errata_sealed_floor
  where (o.errata_allowed_lateness, o.errata_shift, o.errata_sealed_floor)
    is distinct from (excluded.errata_allowed_lateness, excluded.errata_shift, excluded.errata_sealed_floor)
