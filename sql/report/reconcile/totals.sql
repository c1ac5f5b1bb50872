-- Reconcile: what finance reads first: the sums over all keyed windows of the sweep. Rows out: one an additive measure.
-- restated + unexplained + blocked = bronze, counted anew; the rows that no run has examined come on top.
--
-- Safe to repeat: it reads.
select m.*
from (
  select
    /*:each additive*/
    jsonb_build_object(
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
      'latest', coalesce(sum(c./*:latest_measure*/latest_revenue/*.*/), 0)::text,
      'pending', coalesce(sum(c./*:pending_measure*/pending_revenue/*.*/), 0)::text,
      'held', coalesce(sum(c./*:held_measure*/held_revenue/*.*/), 0)::text,
      'waived', coalesce(sum(c./*:waived_measure*/waived_revenue/*.*/), 0)::text,
      'restated', coalesce(sum(c./*:restated_measure*/restated_revenue/*.*/), 0)::text,
      'unexplained', coalesce(sum(c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/) filter (where c.errata_why is null), 0)::text,
      'blocked', coalesce(sum(c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/) filter (where c.errata_why is not null), 0)::text,
      'bronze', coalesce(sum(c./*:errata_bronze_measure*/errata_bronze_revenue/*.*/), 0)::text,
      'not_examined', coalesce(sum(c./*:errata_unexamined_measure*/errata_unexamined_revenue/*.*/), 0)::text
    ) as /*:measure*/revenue/*.*/,
    /*:end*/
    count(*) as errata_keyed_windows
  from pg_temp.errata_compared as c
) as t
cross join lateral (
  select t.errata_figures as figures
  from (values (null::jsonb) /*:each additive*/ , (t./*:measure*/revenue/*.*/) /*:end*/) as t (errata_figures)
  where t.errata_figures is not null
) as m
