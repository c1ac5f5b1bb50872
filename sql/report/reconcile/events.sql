-- Reconcile: the events that could be named. Rows out: at most $1 of each kind.
--
-- $1 at_most: integer
--
-- Safe to repeat: it reads.
select
  c.kind,
  c.event_id,
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  w.local_date::text as local_date,
  c.key,
  c.detail
from (
  select
    c.kind, c.event_id, c.window_start, c.window_end, c.detail,
    jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
    row_number() over (partition by c.kind order by c.window_start, c.event_id, c.row_digest) as place
  from pg_temp.errata_finding as c
) as c
left join lateral (
  select w.local_date
  from /*:windows*/errata.daily_orders_windows/*.*/ (c.window_start) as w
  where w.window_start = c.window_start
  limit 1
) as w on true
where c.place <= $1::integer
order by c.kind, c.place
