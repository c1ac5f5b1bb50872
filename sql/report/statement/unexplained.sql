-- Statement, unexplained: the keyed windows that the last sweep could not explain, with the events that it could name (R14).
--
-- `errata_stands` is false where a version of the keyed window came after the sweep. Inputs: the work tables. Rows out: none; it makes
-- a view. Safe to repeat.
create or replace temp view errata_stated_unexplained as
select
  w.window_start,
  w.window_end,
  w.local_date,
  /*:each key*/ (w.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
  w.unexplained as errata_found,
  w.why,
  w.version,
  /*:each additive*/
  (w.figures -> /*:measure_name*/'revenue'/*.*/ ->> 'restated')::numeric as /*:restated_measure*/restated_revenue/*.*/,
  (w.figures -> /*:measure_name*/'revenue'/*.*/ ->> 'bronze')::numeric as /*:errata_bronze_measure*/errata_bronze_revenue/*.*/,
  (w.figures -> /*:measure_name*/'revenue'/*.*/ ->> 'unexplained')::numeric as /*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/,
  /*:end*/
  not exists (
    select from pg_temp.errata_stated_version as g
    where g.window_start = w.window_start
      and g.window_end = w.window_end
      and jsonb_build_array(/*:version_key_texts*/g.region::text/*.*/) = w.key
      and g.stamp > s.stamp
  ) as errata_stands,
  (
    select array_agg(e.event_id order by e.event_id collate "C")
    from (
      select distinct e.event_id
      from /*:schema*/errata/*.*/.reconciled_event as e
      where e.reconciliation_id = w.reconciliation_id
        and e.window_start = w.window_start
        and e.window_end = w.window_end
        and e.key = w.key
      order by e.event_id
      limit 100
    ) as e
  ) as errata_events
from pg_temp.errata_statement as b
join pg_temp.errata_stated_sweep as s on s.reconciliation_id = b.sweep_id
join /*:schema*/errata/*.*/.reconciled_window as w
  on w.reconciliation_id = s.reconciliation_id
  and w.window_start >= b.period_start
  and w.window_start < b.period_end
where w.status = 'unexplained'
