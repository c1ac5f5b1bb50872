-- A schedule counts from when it is first seen. Rows out: none. Safe to repeat.
--
-- $1 rollup_id: integer
-- $2 cron, $3 time_zone: text
-- $4 now: instant
insert into /*:schema*/errata/*.*/.schedule (rollup_id, cron, time_zone, since)
values ($1::integer, $2::text, $3::text, $4::timestamptz)
on conflict (rollup_id, cron, time_zone) do nothing
