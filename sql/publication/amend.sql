-- Amend and restate: the keyed windows that a person's word is about, whatever their event count (R9).
--
-- $1 bound: bound of this run
-- $2 window_from, $3 window_to: keyed windows that start in here, half-open; null for no limit
-- $4 event_ids: text[]; only windows that hold or held one of them, as far as late events, copies and bronze tell; null for all
-- $5 key: jsonb, an object of key columns and their texts; null for all
--
-- Rows out: one, how many keyed windows, and which of the ids were found; the windows stand in pg_temp.errata_asked. Safe
-- to repeat in another run: writes work tables only.
with known as (
  select g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ null::text as event_id
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where $4::text[] is null
    and (g.window_start >= $2::timestamptz or $2::timestamptz is null)
    and (g.window_start < $3::timestamptz or $3::timestamptz is null)
  union
  select e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.event_id
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start is not null
    and (e.event_id = any ($4::text[]) or $4::text[] is null)
    and (e.window_start >= $2::timestamptz or $2::timestamptz is null)
    and (e.window_start < $3::timestamptz or $3::timestamptz is null)
  union
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.event_id
  from /*:copy*/errata.daily_orders_copy/*.*/ as c
  where c.event_id = any ($4::text[])
    and (c.window_start >= $2::timestamptz or $2::timestamptz is null)
    and (c.window_start < $3::timestamptz or $3::timestamptz is null)
  union
  select w.window_start, w.window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ case when $4::text[] is not null then r.errata_event_id end
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where (r.errata_event_id = any ($4::text[]) or $4::text[] is null)
    and (r.errata_event_time >= $2::timestamptz or $2::timestamptz is null)
    and (w.window_start >= $2::timestamptz or $2::timestamptz is null)
    and (w.window_start < $3::timestamptz or $3::timestamptz is null)
    and ($3::timestamptz is null or r.errata_event_time < coalesce(
      (select max(l.window_end) from /*:windows*/errata.daily_orders_windows/*.*/ ($3::timestamptz - interval '1 microsecond') as l),
      'infinity'
    ))
    and r.errata_ingested_at <= $1::timestamptz
    and r.errata_is_valid
),
chosen as (
  select c.*
  from known as c
  where $5::jsonb is null or jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) @> $5::jsonb
),
keyed_window as (
  select distinct c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
  from chosen as c
),
asked as (
  insert into pg_temp.errata_asked (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause)
  select k.window_start, k.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/ 'source_change'
  from keyed_window as k
)
select
  (select count(*) from keyed_window)::integer as keyed_windows,
  array(select distinct c.event_id from chosen as c where c.event_id = any ($4::text[]) order by 1) as events
