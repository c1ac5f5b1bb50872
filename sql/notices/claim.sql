-- Claim the next notice to deliver: until the lease has run out nobody else takes it, and no transaction is open while it is
-- delivered. Two who deliver at once take different ones. Rows out: at most one, the oldest that is due.
--
-- $1 rollups: text[], only theirs
-- $2 now: instant
-- $3 lease: interval; longer than one delivery may take. Whoever died with a claim is followed by another after it
--
-- Not repeatable: each call claims another.
update /*:schema*/errata/*.*/.outbox as o
set attempts = o.attempts + 1, next_attempt_at = $2::timestamptz + $3::interval
where o.notice_id = (
    select d.notice_id
    from /*:schema*/errata/*.*/.outbox as d
    where d.delivered_at is null
      and (d.next_attempt_at is null or d.next_attempt_at <= $2::timestamptz)
      and d.notice ->> 'rollup' = any ($1::text[])
    order by d.notice_id
    limit 1
    for update skip locked
  )
returning o.notice_id::text as notice_id, o.notice::text as notice, o.attempts
