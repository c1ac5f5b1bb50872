-- What Errata keeps of the user's table of overrides, as the last run found it: the views need it, and each key with a
-- delay of its own must be sealed once and whole when that delay changes (R8). Safe to repeat.
create table if not exists /*:override*/errata.daily_orders_override/*.*/ (
  /*:each override_by*/ /*:by*/region/*.*/ /*:by_type*/text/*.*/, /*:end*/
  errata_allowed_lateness interval,
  -- its keyed windows are sealed until the rollup's watermark and this, and never less than until the floor
  errata_shift interval not null,
  errata_sealed_floor timestamptz,
  constraint /*:override_once*/daily_orders_override_once/*.*/ unique nulls not distinct (
    /*:override_names*/region/*.*/
  )
);
