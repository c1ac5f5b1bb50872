-- Overrides: the user's table of delays and latenesses as this run finds it, and how far each of its keys was sealed by
-- the runs before (R2, R3, R8). A key that has left the table stays here until the rollup has caught up with it.
-- Several statements; rows out: one an override, into pg_temp.errata_override. A span counts in microseconds, a month as 30
-- days, so that it is the same span everywhere. Safe to repeat: writes a work table only.
create temp table errata_override on commit drop as
select
  /*:each override_by*/ coalesce(l./*:by*/region/*.*/, o./*:by*/region/*.*/) as /*:by*/region/*.*/, /*:end*/
  l.errata_delay,
  l.errata_allowed_lateness,
  l.errata_is_listed is not null as errata_is_listed,
  coalesce(o.errata_shift, interval '0') as errata_shift,
  case when o.errata_shift is null then r.sealed_until else o.errata_sealed_floor end as errata_sealed_floor,
  -- the watermark that sealed this key in earlier runs, and the one that does now
  coalesce(greatest(o.errata_sealed_floor, r.sealed_until + o.errata_shift), r.sealed_until) as errata_sealed_before,
  null::timestamptz as errata_sealed_until,
  -- where the windows that this run seals start, half-open
  null::timestamptz as errata_sealing_from,
  null::timestamptz as errata_sealing_to
from (
  select
    /*:each override_by*/ t./*:by_column*/region/*.*/::/*:by_type*/text/*.*/ as /*:by*/region/*.*/, /*:end*/
    make_interval(secs => extract(epoch from /*:override_delay*/t.delay/*.*/)::double precision) as errata_delay,
    make_interval(secs => extract(epoch from /*:override_lateness*/t.allowed_lateness/*.*/)::double precision) as errata_allowed_lateness,
    true as errata_is_listed
  from /*:override_table*/ops.delays/*.*/ as t
) as l
full join /*:override*/errata.daily_orders_override/*.*/ as o
  on true /*:each override_by*/ and array[o./*:by*/region/*.*/] = array[l./*:by*/region/*.*/] /*:end*/
cross join /*:schema*/errata/*.*/.rollup as r
where r.rollup_id = /*:rollup_id*/1/*.*/;

-- So that a planner that takes many rows for two does no harm: without it 45,000 rows and 300 overrides took 10 s.
create index on pg_temp.errata_override (/*:override_index*/(array[region])/*.*/);

analyze pg_temp.errata_override
