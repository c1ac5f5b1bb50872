-- Partials: which keyed windows are made from them. Not one of whose rows somebody deleted or changed one, or let one out of
-- quarantine: of those bronze alone knows.
--
-- Inputs: pg_temp.errata_touched, pg_temp.errata_ingested. Rows out: one a keyed window; the mark `is_parted`. Safe to repeat.
update pg_temp.errata_touched as t
set is_parted = true
where t.target in ('counted', 'open', 'all')
  and not t.has_null_key
  and exists (select from pg_temp.errata_ingested as i where i.is_covered)
  and not exists (
    select from /*:partial*/errata.daily_orders_partial/*.*/ as p
    where p.relation_id = 0
      and p.window_start = t.window_start
      and p.window_end = t.window_end
      /*:each key*/ and array[p./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
  )
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.cause = 'quarantine_release'
      and e.window_start = t.window_start
      and e.window_end is not distinct from t.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
  )
