-- The notices of one rollup that nobody has received yet. Rows out: one.
--
-- $1 rollup: text
-- $2 at: instant from which ages are reckoned
--
-- `last_error`: of the oldest that was tried. Safe to repeat: it reads.
select
  count(*)::text as undelivered,
  extract(epoch from $2::timestamptz - min(r.stamp))::text as oldest_age_seconds,
  coalesce(max(o.attempts), 0) as attempts,
  (array_agg(o.last_error order by o.notice_id) filter (where o.last_error is not null))[1] as last_error
from /*:schema*/errata/*.*/.outbox as o
join /*:schema*/errata/*.*/.run as r on r.run_id = o.run_id
where o.delivered_at is null
  and o.notice ->> 'rollup' = $1::text
