-- The sessions that an instant may mean: those that hold it, and the sessions that refused rows which await a person make
-- by themselves (R6s). Rows out: one a session and key, the likeliest first: one that starts at the instant, one that holds
-- its rows still, the latest.
--
-- $1 instant: inside a session, or its start
-- $2 window_end: of the session; null for any
-- $3 key: jsonb, an object of key columns and their texts, not necessarily all of them; null for all
-- $4 only_pending: boolean; only sessions with events that await a person
--
-- Safe to repeat: it reads.
select c.window_start::text as window_start, c.window_end::text as window_end, null::text as local_date, c.key
from (
  select
    s.window_start,
    s.window_end,
    s.replaced_by is null as is_current,
    jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key
  from /*:session*/errata.daily_orders_session/*.*/ as s
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as c on c.key_id = s.key_id
  where not $4::boolean
  union
  select c.window_start, c.window_end, true, jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/)
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as c
  where c.window_start is not null
    and (c.state = 'pending' or not $4::boolean)
) as c
where c.window_start <= $1::timestamptz
  and c.window_end > $1::timestamptz
  and (c.window_end = $2::timestamptz or $2::timestamptz is null)
  and (c.key @> $3::jsonb or $3::jsonb is null)
order by c.window_start = $1::timestamptz desc, c.is_current desc, c.window_start desc, c.window_end desc, c.key
limit 51
