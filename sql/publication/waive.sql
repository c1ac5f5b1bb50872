-- Waive: a person sets events aside (R10). Those that a version includes leave the counted set by a new version, in the
-- run that follows; the windows that it recomputes stand in pg_temp.errata_asked.
--
-- $1 run_id: bigint
-- $2 actor, $3 reason: text
-- $4 window_from, $5 window_to: events of windows that start in here, half-open; null for no limit
-- $6 event_ids: text[]; null for all that are pending. Only what is named is taken out of a version
-- $7 key: jsonb, an object of key columns and their texts; null for all
--
-- Until a version without it is appended, an event that one includes stays marked as released. Version 1 is what shipped:
-- what it counts is never taken out. Rows out: one. Safe to repeat: what is waived already is passed over.
with named as (
  select e.ctid as place, e.*
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.state in ('pending', 'held', 'included')
    and (e.state <> 'included' or $6::text[] is not null)
    and (e.window_start >= $4::timestamptz or $4::timestamptz is null)
    and (e.window_start < $5::timestamptz or $5::timestamptz is null)
    and (e.event_id = any ($6::text[]) or $6::text[] is null)
    and ($7::jsonb is null or jsonb_build_object(/*:event_key_pairs*/'region', e.region::text/*.*/) @> $7::jsonb)
),
chosen as (
  select n.*
  from named as n
  where n.state <> 'included' or n.version > 1
),
waived as (
  update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  set
    state = 'waived',
    released = e.state = 'included',
    version = null,
    state_run_id = $1::bigint,
    state_actor = $2::text,
    state_reason = $3::text
  from chosen as c
  where e.ctid = c.place
),
asked as (
  insert into pg_temp.errata_asked (window_start, window_end /*:each key*/ , /*:key*/region/*.*/ /*:end*/)
  select distinct c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
  from chosen as c
  where c.state = 'included' or c.released
)
select
  (select count(*) from chosen)::integer as waived,
  (select count(*) from chosen as c where c.state = 'included')::integer as taken_back,
  (select count(*) from named as n where n.state = 'included' and n.version = 1)::integer as shipped
