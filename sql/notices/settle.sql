-- What became of a claimed notice: delivered, or tried again later. Rows out: none.
--
-- $1 notice_id: bigint
-- $2 attempts: integer, as it was claimed with
-- $3 failure: text; null where it arrived
-- $4 now: instant
-- $5 wait: interval, until it is tried again
--
-- A failure says nothing where somebody else has claimed it since. Safe to repeat.
update /*:schema*/errata/*.*/.outbox as o
set
  delivered_at = case when $3::text is null then $4::timestamptz end,
  next_attempt_at = case when $3::text is not null then $4::timestamptz + $5::interval end,
  last_error = $3::text
where o.notice_id = $1::bigint
  and o.delivered_at is null
  and (o.attempts = $2::integer or $3::text is null)
