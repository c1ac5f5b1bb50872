-- Notices that were delivered and whose time is up leave the outbox. Rows out: none.
--
-- $1 rollups: text[], only theirs
-- $2 now: instant
-- $3 keep: interval, how long they are kept
--
-- Safe to repeat.
delete from /*:schema*/errata/*.*/.outbox as o
where o.delivered_at < $2::timestamptz - $3::interval
  and o.notice ->> 'rollup' = any ($1::text[])
