-- The life of one keyed window, in the order of stamps: what shipped, every version, every late event with the watermark that judged
-- it, what was proposed and what a person said. Rows out: one an entry, at most $5.
--
--   version    it was published: values before and after, causes, who
--   event      a run found it; `state` is that of now
--   word       a person released or waived it
--   proposal   a version that awaited a person
--   answer     what became of it
--   emission   the stream sent a value that is kept beside the ledger
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, the texts of the key columns as an array, in their order
-- $4 passed_over: integer; so many are passed over
-- $5 at_most: integer
--
-- Safe to repeat: it reads.
with late_event as (
  select e.*
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start = $1::timestamptz
    and e.window_end = $2::timestamptz
    and jsonb_build_array(/*:event_key_texts*/e.region::text/*.*/) = $3::jsonb
)
select
  t.at::text as at,
  t.entry,
  t.version::text as version,
  t.kind,
  t.causes,
  t.actor,
  t.approver,
  t.reason,
  t.db_role,
  t.run_id::text as run_id,
  t.posting_period,
  t.is_void,
  t.measures,
  t.event_id,
  t.event_time::text as event_time,
  t.arrived_at::text as arrived_at,
  t.lateness::text as lateness,
  t.watermark::text as watermark,
  t.landing,
  t.state
from (
  select
    c.stamp as at, case when c.version = 1 then 0 else 5 end as place, 'version' as entry, c.version, c.kind, c.causes, c.actor, c.approver,
    c.reason, c.db_role, c.run_id, c.posting_period, c.is_void,
    '{}'::jsonb
      /*:each measure*/
      || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(c./*:previous_measure*/previous_revenue/*.*/::text, c./*:measure*/revenue/*.*/::text, c./*:delta_measure*/delta_revenue/*.*/::text))
      /*:end*/ as measures,
    null as event_id, null::timestamptz as event_time, null::timestamptz as arrived_at, null::numeric as lateness, null::timestamptz as watermark,
    null as landing, null as state
  from /*:history*/gold.daily_orders_history/*.*/ as c
  where c.window_start = $1::timestamptz
    and c.window_end = $2::timestamptz
    and jsonb_build_array(/*:key_texts*/c.region::text/*.*/) = $3::jsonb
  union all
  select
    r.stamp, 1, 'event', e.version, null, array[e.cause], null, null,
    e.quarantine_reason, null, e.first_run_id, null, null,
    '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(null, e./*:measure*/revenue/*.*/::text, null)) /*:end*/,
    e.event_id, e.event_time, e.arrived_at, e.lateness_seconds, e.watermark,
    e.landing, e.state
  from late_event as e
  left join /*:schema*/errata/*.*/.run as r on r.run_id = e.first_run_id
  union all
  select
    r.stamp, 2, 'word', e.version, null, null, e.state_actor, null,
    e.state_reason, null, e.state_run_id, null, null,
    null,
    e.event_id, null, null, null, null,
    null, e.state
  from late_event as e
  left join /*:schema*/errata/*.*/.run as r on r.run_id = e.state_run_id
  where e.state_actor is not null
  union all
  select
    c.received_at, 2, 'emission', null, c.kind, null, null, null,
    null, null, c.run_id, null, null,
    '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(null, c./*:measure*/revenue/*.*/::text, null)) /*:end*/,
    null, null, null, null, null,
    null, null
  from /*:emission*/errata.daily_orders_emission/*.*/ as c
  where c.window_start = $1::timestamptz
    and c.window_end = $2::timestamptz
    and jsonb_build_array(/*:key_texts*/c.region::text/*.*/) = $3::jsonb
  union all
  select
    o.proposed_at, 3, 'proposal', o.base_version, null, o.causes, null, null,
    o.why, null, o.run_id, null, null,
    '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(null, o.measures ->> /*:measure_name*/'revenue'/*.*/, null)) /*:end*/,
    null, null, null, null, null,
    null, o.state
  from /*:proposal*/errata.proposal/*.*/ as o
  where o.rollup_id = /*:rollup_id*/1/*.*/
    and o.window_start = $1::timestamptz
    and o.window_end = $2::timestamptz
    and o.key = $3::jsonb
  union all
  select
    o.decided_at, 4, 'answer', o.base_version, null, null, o.decided_by, null,
    o.decided_reason, null, o.decided_run_id, null, null,
    null,
    null, null, null, null, null,
    null, o.state
  from /*:proposal*/errata.proposal/*.*/ as o
  where o.rollup_id = /*:rollup_id*/1/*.*/
    and o.window_start = $1::timestamptz
    and o.window_end = $2::timestamptz
    and o.key = $3::jsonb
    and o.decided_at is not null
) as t
order by t.at nulls last, t.place, t.version, t.event_id
limit $5::integer
offset $4::integer
