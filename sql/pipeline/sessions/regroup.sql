-- Regroup: the released rows regroup the sessions then sealed; those of one key and cause are joined with each other
-- at once (R6s).
--
-- $1 sealed_until: the watermark that seals, of keys without a delay of their own
-- $2 run_id: bigint
--
-- Inputs: pg_temp.errata_arrival. Rows out: one a key and cause. Side effect: pg_temp.errata_joined. Not safe to repeat: a row joins
-- once, regroup_rows.sql sees to it.
select /*:regroup_sessions*/errata.daily_orders_regroup_sessions/*.*/ (
  a.key_id,
  array_agg(a.place order by a.event_time, a.place),
  array_agg(a.event_time order by a.event_time, a.place),
  /*:key_sealed_until*/$1::timestamptz/*.*/,
  true,
  e.cause,
  $2::bigint
)
from pg_temp.errata_arrival as a
join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  on e.event_id = a.event_id
  and e.row_digest::uuid = a.row_digest
  and e.state = 'pending'
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = a.key_id
/*:session_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[k.region]/*.*/
group by a.key_id, e.cause, /*:key_sealed_until*/$1::timestamptz/*.*/
