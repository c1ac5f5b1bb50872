-- Reconcile: keep the result (R14). Of keyed windows those that are not identical, or that a table kept elsewhere has otherwise:
-- a million identical ones are one row.
--
-- $1 rollup_id: integer
-- $2 period: text; $3 range_from, $4 range_to: instants; $5 key: jsonb
-- $6 snapshot: text; $7 run_id: bigint; $8 stamp, $9 bound, $10 sealed_until, $11 swept_at: instants
-- $12 against: text; $13 counts, $14 totals: jsonb; $15 actor: text
--
-- Inputs: pg_temp.errata_compared, errata_finding. Rows out: one, the sweep. Not repeatable: each call is a sweep.
with kept as materialized (
  select
    c.window_start,
    c.window_end,
    c.local_date,
    jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as key,
    c.errata_status as status,
    c.errata_explained_by as explained_by,
    c.errata_unexplained as unexplained,
    c.errata_why as why,
    c.version,
    coalesce(c.errata_figures, '{}') as figures,
    c.errata_outside as outside
  from pg_temp.errata_compared as c
  where c.errata_status <> 'identical' or c.errata_outside is not null
),
sweep as (
  insert into /*:schema*/errata/*.*/.reconciliation (
    rollup_id, period, range_from, range_to, key, snapshot, run_id, stamp, bound, sealed_until, swept_at, against, counts, totals, actor, result_hash
  )
  select
    $1::integer, $2::text, $3::timestamptz, $4::timestamptz, $5::jsonb, $6::pg_snapshot, $7::bigint, $8::timestamptz,
    $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::text, $13::jsonb, $14::jsonb, $15::text,
    sha256(coalesce(
      (
        select string_agg(sha256(convert_to(to_jsonb(k)::text, 'UTF8')), ''::bytea order by k.window_start, k.window_end, k.key)
        from kept as k
      ),
      ''::bytea
    ))
  returning reconciliation_id, result_hash
),
windows as (
  insert into /*:schema*/errata/*.*/.reconciled_window (
    reconciliation_id, window_start, window_end, local_date, key, status, explained_by, unexplained, why, version, figures, outside
  )
  select
    s.reconciliation_id, k.window_start, k.window_end, k.local_date, k.key, k.status, k.explained_by, k.unexplained, k.why, k.version,
    k.figures, k.outside
  from sweep as s
  cross join kept as k
),
events as (
  insert into /*:schema*/errata/*.*/.reconciled_event (reconciliation_id, window_start, window_end, key, kind, event_id, detail)
  select s.reconciliation_id, c.window_start, c.window_end, jsonb_build_array(/*:key_texts*/c.region::text/*.*/), c.kind, c.event_id, c.detail
  from sweep as s
  cross join pg_temp.errata_finding as c
)
select s.reconciliation_id::text as reconciliation_id, encode(s.result_hash, 'hex') as result_hash
from sweep as s
