-- Versions with a measure that stood at a value, what they were before and what came after. Rows out: one a version and
-- measure, the earliest window first, at most 101.
--
-- $1 number: numeric; null where the printed value is no number
-- $2 text: the printed value as it stands, for measures that are no numbers
-- $3 scale: integer; measures are rounded to so many decimals first; null: exactly
-- $4 day_from, $5 day_to: it stood at some instant of this span, half-open; null for any
-- $6 row_hash: the first fifteen hexadecimal digits of the version's hash; null for any
--
-- Safe to repeat: it reads.
with matching as (
  select g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where $6::text is null
    and (g.stamp < $5::timestamptz or $5::timestamptz is null)
    and (
      false
      /*:each measure*/ or case when g./*:measure*/revenue/*.*/::text ~ '^-?[0-9]+([.][0-9]+)?$' then coalesce(round(g./*:measure*/revenue/*.*/::text::numeric, $3::integer), g./*:measure*/revenue/*.*/::text::numeric) = $1::numeric else g./*:measure*/revenue/*.*/::text = $2::text end /*:end*/
      or g.event_count = $1::numeric
    )
  union all
  select g.*
  from (
    select e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.version
    from /*:evidence*/errata.daily_orders_evidence/*.*/ as e
    where left(encode(e.row_hash, 'hex'), 15) = $6::text
    union
    select e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.version
    from /*:unchained*/errata.daily_orders_unchained/*.*/ as e
    where left(encode(e.row_hash, 'hex'), 15) = $6::text
  ) as e
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start = e.window_start
    and g.window_end = e.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
    and g.version = e.version
)
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.version,
  c.kind,
  c.causes,
  c.reason,
  c.actor,
  c.run_id::text as run_id,
  c.is_void,
  c.stamp::text as stamp,
  n.stamp::text as until,
  n.version as next_version,
  n.causes as next_causes,
  n.reason as next_reason,
  n.actor as next_actor,
  n.run_id::text as next_run_id,
  n.is_void as next_is_void,
  m.measure,
  m.value,
  m.previous_value,
  m.next_value,
  case when m.value ~ '^-?[0-9]+([.][0-9]+)?$' and m.next_value ~ '^-?[0-9]+([.][0-9]+)?$' then (m.next_value::numeric - m.value::numeric)::text end as next_delta,
  case when c.kind = 'seal' then null else v.events end as events,
  n.events as next_events,
  h.row_hash
from matching as c
left join lateral (
  select g.*, x.events
  from /*:ledger*/gold.daily_orders/*.*/ as g
  cross join lateral (
    select array_agg(e.event_id order by e.arrived_at, e.event_id) as events
    from (
      select e.event_id, e.arrived_at
      from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
      where e.window_start = g.window_start
        and e.window_end = g.window_end
        /*:each key*/ and array[e./*:key*/region/*.*/] = array[g./*:key*/region/*.*/] /*:end*/
        and e.version = g.version
      order by e.arrived_at, e.event_id
      limit 11
    ) as e
  ) as x
  where g.window_start = c.window_start
    and g.window_end = c.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and g.version > c.version
  order by g.version
  limit 1
) as n on true
left join lateral (
  select g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = c.window_start
    and g.window_end = c.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and g.version < c.version
  order by g.version desc
  limit 1
) as p on true
cross join lateral (
  select array_agg(e.event_id order by e.arrived_at, e.event_id) as events
  from (
    select e.event_id, e.arrived_at
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = c.window_start
      and e.window_end = c.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and e.version = c.version
    order by e.arrived_at, e.event_id
    limit 11
  ) as e
) as v
left join lateral (
  select encode(e.row_hash, 'hex') as row_hash
  from (
    select e.row_hash
    from /*:evidence*/errata.daily_orders_evidence/*.*/ as e
    where e.window_start = c.window_start
      and e.window_end = c.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and e.version = c.version
    union all
    select e.row_hash
    from /*:unchained*/errata.daily_orders_unchained/*.*/ as e
    where e.window_start = c.window_start
      and e.window_end = c.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and e.version = c.version
  ) as e
  limit 1
) as h on true
cross join lateral (
  values
    /*:each measure*/ (1, /*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text, p./*:measure*/revenue/*.*/::text, n./*:measure*/revenue/*.*/::text), /*:end*/
    (2, 'event_count', c.event_count::text, p.event_count::text, n.event_count::text)
) as m (place, measure, value, previous_value, next_value)
where (n.stamp is null or n.stamp > $4::timestamptz or $4::timestamptz is null)
  and (
    $6::text is not null
    or case when m.value ~ '^-?[0-9]+([.][0-9]+)?$' then coalesce(round(m.value::numeric, $3::integer), m.value::numeric) = $1::numeric else m.value = $2::text end
  )
  -- a count of events is asked for where no measure says it
  and (m.place = 1 or $6::text is null and not (false /*:each measure*/ or c./*:measure*/revenue/*.*/::text = c.event_count::text /*:end*/))
order by c.window_start, c.window_end, c.version, m.place, m.measure
limit 101
