-- Reconcile: how many keyed windows and events of each kind. Rows out: one.
--
-- Safe to repeat: it reads.
select
  count(*)::text as keyed_windows,
  (count(*) filter (where c.errata_status = 'identical'))::text as identical,
  (count(*) filter (where c.errata_status = 'explained'))::text as explained,
  (count(*) filter (where c.errata_status = 'unexplained'))::text as unexplained,
  coalesce(sum(c.errata_bronze_events), 0)::text as bronze_events,
  coalesce(sum(c.errata_unexamined_events), 0)::text as not_examined_events,
  coalesce(sum(c.pending_events), 0)::text as pending_events,
  coalesce(sum(c.held_events), 0)::text as held_events,
  coalesce(sum(c.waived_events), 0)::text as waived_events,
  (
    select coalesce(jsonb_object_agg(k.kind, k.keyed_windows::text), '{}')
    from (
      select k.kind, count(*) as keyed_windows
      from pg_temp.errata_compared as w
      cross join lateral unnest(w.errata_explained_by) as k (kind)
      group by k.kind
    ) as k
  ) as explained_by,
  (
    select coalesce(jsonb_object_agg(k.kind, jsonb_build_object('keyed_windows', k.keyed_windows::text, 'events', coalesce(f.events, 0)::text)), '{}')
    from (
      select k.kind, count(*) as keyed_windows
      from pg_temp.errata_compared as w
      cross join lateral unnest(w.errata_unexplained) as k (kind)
      group by k.kind
    ) as k
    left join (
      select f.kind, count(*) as events
      from pg_temp.errata_finding as f
      group by f.kind
    ) as f using (kind)
  ) as unexplained_by
from pg_temp.errata_compared as c
