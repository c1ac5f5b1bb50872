-- A scheduled run failed: the next attempt is after a minute, then two, four and so on, at most an hour. Rows out: one, what
-- holds now. Where another server has noted a failure of just now, its word stands: two servers do not double the wait.
--
-- $1 rollup_id: integer
-- $2 now: instant
-- $3 error: text
--
-- Safe to repeat.
with noted as (
  insert into /*:schema*/errata/*.*/.back_off as b (rollup_id, failures, failed_at, next_attempt_at, error)
  values ($1::integer, 1, $2::timestamptz, $2::timestamptz + interval '1 minute', $3::text)
  on conflict (rollup_id) do update set
    failures = b.failures + 1,
    failed_at = excluded.failed_at,
    next_attempt_at = excluded.failed_at + least(interval '1 minute' * power(2, least(b.failures, 10)), interval '1 hour'),
    error = excluded.error
  where b.next_attempt_at <= excluded.failed_at
  returning b.failures, b.next_attempt_at
)
select n.failures, n.next_attempt_at::text as next_attempt_at
from noted as n
union all
select b.failures, b.next_attempt_at::text
from /*:schema*/errata/*.*/.back_off as b
where b.rollup_id = $1::integer and not exists (select from noted as n)
