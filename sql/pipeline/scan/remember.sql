-- Scan: remember how far one ingestion partition was read, in the commit that publishes, so that a killed run has read
-- nothing (R16).
--
-- $1 rollup_id: integer
-- $2 relation_id: oid
-- $3 relation, $4 bounds: text
-- $5 horizon: xid8, the oldest transaction still running
-- $6 seen: int8multirange of later ones whose rows were visible
-- $7 bound: bound of this run
-- $8 deferred_from: the earliest ingested_at beyond it
-- $9 activity: text; null while a transaction writes to the partition
-- $10 examined: bigint
-- $11 event_time_from, $12 event_time_to: of the rows examined now
--
-- Rows out: none. Safe to repeat but for the count of rows.
insert into /*:schema*/errata/*.*/.ingestion_partition as p (
  rollup_id, relation_id, relation, bounds, horizon, seen, bound, deferred_from, activity, rows_examined,
  event_time_from, event_time_to, first_examined_at, last_examined_at
)
values (
  $1::integer, $2::oid, $3::text, $4::text, $5::xid8, $6::int8multirange, $7::timestamptz, $8::timestamptz, $9::text, $10::bigint,
  $11::timestamptz, $12::timestamptz, $7::timestamptz, $7::timestamptz
)
on conflict (rollup_id, relation_id) do update set
  relation = excluded.relation,
  bounds = excluded.bounds,
  horizon = excluded.horizon,
  seen = (p.seen * int8multirange(int8range(excluded.horizon::text::bigint, null))) + excluded.seen,
  bound = greatest(p.bound, excluded.bound),
  deferred_from = excluded.deferred_from,
  activity = excluded.activity,
  rows_examined = p.rows_examined + excluded.rows_examined,
  event_time_from = least(p.event_time_from, excluded.event_time_from),
  event_time_to = greatest(p.event_time_to, excluded.event_time_to),
  -- of what was there before: remember_ids.sql knows better, where it is asked
  event_id_from = null,
  event_id_to = null,
  last_examined_at = excluded.last_examined_at,
  gone_at = null
