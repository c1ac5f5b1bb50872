-- Statement, totals: from what shipped to what is true, a row an additive measure (R14). `unexplained` is null where no sweep was on
-- record: then `true` is reckoned from the stored states.
--
-- Inputs: pg_temp.errata_stated_window. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_totals as
select t.*
from (
  select
    count(*) as errata_windows
    /*:each additive*/
    , jsonb_build_object(
      'measure', /*:measure_name*/'revenue'/*.*/,
      'sealed', coalesce(sum(c./*:sealed_measure*/sealed_revenue/*.*/), 0)::text,
      'late_firing', coalesce(sum(c./*:late_firing_measure*/late_firing_revenue/*.*/), 0)::text,
      'straggler', coalesce(sum(c./*:straggler_measure*/straggler_revenue/*.*/), 0)::text,
      'refused', coalesce(sum(c./*:refused_measure*/refused_revenue/*.*/), 0)::text,
      'quarantine_release', coalesce(sum(c./*:quarantine_release_measure*/quarantine_release_revenue/*.*/), 0)::text,
      'seal_mismatch', coalesce(sum(c./*:seal_mismatch_measure*/seal_mismatch_revenue/*.*/), 0)::text,
      'stream_emission', coalesce(sum(c./*:stream_emission_measure*/stream_emission_revenue/*.*/), 0)::text,
      'source_change', coalesce(sum(c./*:source_change_measure*/source_change_revenue/*.*/), 0)::text,
      'other', coalesce(sum(c./*:other_measure*/other_revenue/*.*/), 0)::text,
      'corrections', coalesce(sum(c./*:corrections_measure*/corrections_revenue/*.*/), 0)::text,
      'latest', coalesce(sum(c./*:latest_measure*/latest_revenue/*.*/), 0)::text,
      'pending', coalesce(sum(c./*:pending_measure*/pending_revenue/*.*/), 0)::text,
      'held', coalesce(sum(c./*:held_measure*/held_revenue/*.*/), 0)::text,
      'waived', coalesce(sum(c./*:waived_measure*/waived_revenue/*.*/), 0)::text,
      'restated', coalesce(sum(c./*:restated_measure*/restated_revenue/*.*/), 0)::text,
      'unexplained', sum(c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/)::text,
      'true', (coalesce(sum(c./*:restated_measure*/restated_revenue/*.*/), 0)::numeric + coalesce(sum(c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/), 0))::text
    ) as /*:measure*/revenue/*.*/
    /*:end*/
  from pg_temp.errata_stated_window as c
) as s
cross join lateral (
  values (null::jsonb) /*:each additive*/ , (s./*:measure*/revenue/*.*/) /*:end*/
) as m (figures)
cross join lateral jsonb_to_record(m.figures) as t (
  measure text, sealed numeric, late_firing numeric, straggler numeric, refused numeric, quarantine_release numeric, seal_mismatch numeric,
  stream_emission numeric, source_change numeric, other numeric, corrections numeric, latest numeric, pending numeric, held numeric,
  waived numeric, restated numeric, unexplained numeric, "true" numeric
)
where m.figures is not null
