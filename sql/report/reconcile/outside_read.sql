-- Reconcile, against a table of totals kept elsewhere: its rows, in the types of the rollup. Rows out: one a row of it, into
-- pg_temp.errata_outside. Safe to repeat in another transaction: writes a work table only.
create temp table errata_outside on commit drop as
select
  /*:outside_start*/t.window_start::timestamptz/*.*/ as window_start,
  /*:outside_end*/null::timestamptz/*.*/ as window_end,
  /*:outside_date*/null::date/*.*/ as local_date
  /*:each outside_key*/ , t./*:outside_column*/region/*.*/::/*:key_type*/text/*.*/ as /*:key*/region/*.*/ /*:end*/
  /*:each outside_measure*/ , t./*:outside_column*/revenue/*.*/::/*:measure_type*/numeric/*.*/ as /*:measure*/revenue/*.*/ /*:end*/
from /*:outside_table*/mail.daily_orders/*.*/ as t
