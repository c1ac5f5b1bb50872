-- Release: a person lets rows out of quarantine whose event time is readable (R4). Each gets a state in every window that
-- holds it; the run that follows recomputes those that are sealed.
--
-- $1 run_id: bigint
-- $2 actor, $3 reason: text
-- $4 event_ids: text[]; null for all
-- $5 key: jsonb, an object of key columns and their texts; null for all
-- $6 bound: bound of this run
--
-- The row stays quarantined by its landing, which is never judged again (R6). A row whose id its window has already is a
-- copy, and counts nowhere (R5). Rows out: one. Safe to repeat: what is released already is passed over.
with chosen as (
  update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  set released = true, state_run_id = $1::bigint, state_actor = $2::text, state_reason = $3::text
  where e.landing = 'quarantined'
    and e.window_start is null
    and not e.released
    and e.quarantine_reason = 'event_time_ahead_of_arrival'
    and (e.event_id = any ($4::text[]) or $4::text[] is null)
    and ($5::jsonb is null or jsonb_build_object(/*:event_key_pairs*/'region', e.region::text/*.*/) @> $5::jsonb)
  returning e.*
),
placed as (
  select distinct on (w.window_start, w.window_end, c.event_id) w.window_start as errata_start, w.window_end as errata_end, w.local_date as errata_date, c.*
  from chosen as c
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (c.event_time) as w
  where not exists (
    select from /*:source*/errata.daily_orders_source/*.*/ () as r
    where r.errata_event_id = c.event_id
      -- what lies up to a gap before it is in the same session
      and r.errata_event_time >= coalesce(c.event_time - /*:session_gap*/interval '1800000000 microseconds'/*.*/::interval, w.window_start)
      and r.errata_event_time < w.window_end
      and r.errata_ingested_at <= $6::timestamptz
      and r.errata_is_valid
  )
  order by w.window_start, w.window_end, c.event_id, c.ingested_at, c.row_digest collate "C"
),
kept as (
  insert into /*:late_event*/gold.daily_orders_late_event/*.*/ (
    window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition,
    landing, state, cause, released, quarantine_reason,
    /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/
    row_digest, first_run_id, state_run_id, state_actor, state_reason
  )
  select
    p.errata_start, p.errata_end, p.errata_date, /*:each key*/ p./*:key*/region/*.*/, /*:end*/
    p.event_id, p.event_time, p.ingested_at, p.arrived_at, p.lateness_seconds, p.source_partition,
    'quarantined', 'pending', 'quarantine_release', true, p.quarantine_reason,
    /*:each measure*/ p./*:measure*/revenue/*.*/, /*:end*/
    p.row_digest, p.first_run_id, $1::bigint, $2::text, $3::text
  from placed as p
),
-- Where windows overlap it may count in one and be a copy in the next, which takes it for valid all the same.
copied as (
  insert into /*:copy*/errata.daily_orders_copy/*.*/ (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at, row_digest, is_identical, copies
  )
  select
    w.window_start, w.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.event_id, c.ingested_at, c.row_digest, false, 1
  from chosen as c
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (c.event_time) as w
  where exists (select from placed as p where p.row_digest = c.row_digest)
    and not exists (
      select from placed as p
      where p.row_digest = c.row_digest
        and p.errata_start = w.window_start
        and p.errata_end = w.window_end
    )
  on conflict do nothing
)
select
  (select count(*) from chosen)::integer as released,
  (
    select count(*)
    from chosen as c
    where not exists (select from placed as p where p.event_id = c.event_id and p.row_digest = c.row_digest)
  )::integer as copies,
  (
    select count(*)
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.event_id = any ($4::text[]) and e.landing = 'quarantined' and e.quarantine_reason <> 'event_time_ahead_of_arrival'
  )::integer as unreadable
