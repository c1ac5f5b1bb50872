-- Reconcile: what a table kept elsewhere has of the keyed windows. Rows out: one; each keyed window counts in one of them.
--
-- Safe to repeat: it reads.
select
  (count(*) filter (where k.equals is null and c.version > 0))::text as latest,
  (count(*) filter (where k.equals ? 'sealed'))::text as sealed,
  (count(*) filter (where k.equals ? 'version'))::text as older_version,
  (count(*) filter (where k.equals ? 'bronze' and not k.equals ?| '{sealed,version}'))::text as bronze,
  (count(*) filter (where k.equals = '[]' and c.errata_outside ->> 'side' = 'both'))::text as nothing_of_ours,
  (count(*) filter (where c.errata_outside ->> 'side' = 'ours'))::text as missing_outside,
  (count(*) filter (where c.errata_outside ->> 'side' = 'outside'))::text as only_outside
from pg_temp.errata_compared as c
cross join lateral (select c.errata_outside -> 'equals' as equals) as k
