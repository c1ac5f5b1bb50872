-- Late events: those whose id bronze holds in another window too, so that somebody may count an event twice (R5). Asked only
-- where an index on the id answers; of rows that came in time `reconcile` asks.
--
-- $1 bound: bound of this run
-- $2 run_id: bigint
--
-- Inputs: pg_temp.errata_candidate, analysed; pg_temp.errata_same_id, where copies_late.sql has put them. Rows out: one a late event of this run, named as a conflict with both
-- values and the other's event time. Safe to repeat.
with other as (
  select distinct on (c.errata_event_id, c.errata_row_digest)
    c.errata_event_id,
    c.errata_row_digest,
    row(/*:each key*/ c./*:key*/region/*.*/, /*:end*/ /*:each measured*/ c./*:column*/amount/*.*/, /*:end*/ null)::text as this,
    row(/*:each key*/ r./*:key*/region/*.*/, /*:end*/ /*:each measured*/ r./*:column*/amount/*.*/, /*:end*/ null)::text as elsewhere,
    r.errata_event_time::text as event_time
  from pg_temp.errata_candidate as c
  join pg_temp.errata_same_id as r
    on r.errata_event_id = c.errata_event_id
  where c.errata_landing <> 'quarantined'
    and r.errata_is_valid
    and r.errata_ingested_at <= $1::timestamptz
    -- nearly all of them, the late event itself among them; what is left for the condition below is little or nothing
    and (r.errata_event_time < c.window_start or r.errata_event_time >= c.window_end)
    and not exists (
      select from pg_temp.errata_candidate as d
      where d.errata_event_id = c.errata_event_id
        and d.errata_row_digest = c.errata_row_digest
        and r.errata_event_time >= d.window_start
        and r.errata_event_time < d.window_end
    )
  order by c.errata_event_id, c.errata_row_digest, r.errata_ingested_at, r.errata_row_digest collate "C"
)
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set
  is_conflict = true,
  conflicts_with = jsonb_build_object('this', o.this, 'elsewhere', o.elsewhere, 'event_time', o.event_time)
from other as o
where e.event_id = o.errata_event_id
  and e.row_digest = o.errata_row_digest
  and e.first_run_id = $2::bigint
  and e.landing <> 'quarantined'
