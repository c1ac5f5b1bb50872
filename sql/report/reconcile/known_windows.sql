-- Reconcile: the keyed windows that are not now what they were known as at an instant: by a version of a later stamp, or by
-- events kept by name that a run examined later. Rows out: one each, the earliest window first, at most $2.
--
-- $1 known_at: instant
-- $2 at_most: integer
--
-- `known_version` 0: nothing was published of it by then. `events`: the first ten ids. Safe to repeat: it reads.
with since as (
  select
    e.window_start,
    e.window_end,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    count(*) as events,
    (array_agg(e.event_id order by e.event_id))[1:10] as ids
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  join /*:schema*/errata/*.*/.run as f on f.run_id = e.first_run_id
  where f.stamp > $1::timestamptz
    and e.state is not null
    and e.window_start >= (select min(c.window_start) from pg_temp.errata_compared as c)
    and e.window_start <= (select max(c.window_start) from pg_temp.errata_compared as c)
  group by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
)
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  coalesce(k.version, 0) as known_version,
  c.version,
  coalesce(s.events, 0)::text as events_since,
  coalesce(s.ids, '{}') as events,
  '{}'::jsonb
    /*:each measure*/
    || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_object(
      'known', k./*:measure*/revenue/*.*/::text,
      'latest', c./*:latest_measure*/latest_revenue/*.*/::text,
      'bronze', c./*:errata_bronze_measure*/errata_bronze_revenue/*.*/::text
    ))
    /*:end*/ as measures,
  count(*) over ()::text as windows
from pg_temp.errata_compared as c
left join pg_temp.errata_known as k
  on k.window_start = c.window_start
  and k.window_end = c.window_end
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join since as s
  on s.window_start = c.window_start
  and s.window_end = c.window_end
  /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
where c.errata_status <> 'outside'
  and (coalesce(k.version, 0) <> c.version or s.events > 0)
order by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
limit $2::integer
