-- Reconcile: the work tables of one sweep. They live until its commit.

-- How far each ingestion partition was read by the last run that read it (R16).
create temp table errata_read (
  relation_id oid not null,
  horizon_age integer,
  seen int8multirange not null,
  bound timestamptz
) on commit drop;

-- What bronze gives: a keyed window, once for the rows that runs have examined and once for the others.
create temp table errata_recounted on commit drop as
select
  g.window_start, g.window_end, g.local_date, /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  false as is_examined, /*:each measure*/ g./*:measure*/revenue/*.*/, /*:end*/ 0::bigint as events, 0::bigint as named
from /*:ledger*/gold.daily_orders/*.*/ as g
where false;

-- Spans of windows of which a measure cannot be computed (R19).
create temp table errata_uncounted (
  window_from timestamptz not null,
  window_to timestamptz not null,
  error text not null
) on commit drop;

-- A sealed keyed window: the view of its stored states beside what bronze gives.
create temp table errata_compared on commit drop as
select
  c.*,
  /*:each measure*/
  g./*:measure*/revenue/*.*/ as /*:errata_bronze_measure*/errata_bronze_revenue/*.*/,
  g./*:measure*/revenue/*.*/ as /*:errata_unexamined_measure*/errata_unexamined_revenue/*.*/,
  /*:end*/
  /*:each additive*/ 0::numeric as /*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/, /*:end*/
  0::bigint as errata_bronze_events,
  0::bigint as errata_unexamined_events,
  -- bronze less what is accounted for; null where the stream told no count
  0::bigint as errata_unexplained_events,
  -- events kept by name whose row bronze does not hold
  0::bigint as errata_missing,
  true as errata_adds_up,
  -- the events that could be named are the whole difference
  false as errata_is_named,
  null::text as errata_why,
  '{}'::text[] as errata_explained_by,
  '{}'::text[] as errata_unexplained,
  ''::text as errata_status,
  null::jsonb as errata_figures,
  null::jsonb as errata_outside
from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as c
cross join /*:ledger*/gold.daily_orders/*.*/ as g
where false;

-- Events that could be named. `events` and the measures are what the row has more than is accounted for; null where the row
-- itself is not what differs.
create temp table errata_finding on commit drop as
select
  g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  ''::text as kind, ''::text as event_id, ''::text as row_digest, '{}'::jsonb as detail,
  0::bigint as events /*:each additive*/ , 0::numeric as /*:measure*/revenue/*.*/ /*:end*/
from /*:ledger*/gold.daily_orders/*.*/ as g
where false;

create temp table errata_shared_id (event_id text not null) on commit drop;

-- What a keyed window of the sweep was known as at an instant; a row where a version had been published by then.
create temp table errata_known on commit drop as
select
  g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  g.version, g.is_void /*:each measure*/ , g./*:measure*/revenue/*.*/ /*:end*/
from /*:ledger*/gold.daily_orders/*.*/ as g
where false;
