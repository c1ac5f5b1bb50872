-- The next notice to deliver, which stays locked until it is answered for: two who deliver at once take different ones.
-- Rows out: at most one, the oldest.
--
-- $1 rollups: text[], only theirs
-- $2 now: instant
--
-- Safe to repeat: it reads.
select o.notice_id::text as notice_id, o.notice::text as notice, o.attempts
from /*:schema*/errata/*.*/.outbox as o
where o.delivered_at is null
  and (o.next_attempt_at is null or o.next_attempt_at <= $2::timestamptz)
  and o.notice ->> 'rollup' = any ($1::text[])
order by o.notice_id
limit 1
for update skip locked
