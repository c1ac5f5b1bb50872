-- The queue of one rollup: keyed windows whose published value may be wrong, by what they wait for. Rows out: one a
-- kind and reason.
--
--   run      the next run takes them
--   seal     their window is not sealed yet
--   failing  a measure of them cannot be computed: each run tries them again (R19); the reason is the error
--   blocked  they wait for a person, or for their bronze (R15); the reason says which
--
-- $1 sealed_until: the watermark that seals; null before the first seal
-- $2 complete_from: bronze is complete from here on
-- $3 at: instant from which ages are reckoned
--
-- Safe to repeat: it reads.
with keyed_window as (
  select
    q.window_start,
    q.window_end,
    /*:each key*/ q./*:key*/region/*.*/, /*:end*/
    max(q.blocked_reason) as blocked_reason,
    max(q.error) as error,
    max(q.tries) as tries,
    min(q.since) as since
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  group by q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
),
judged as (
  select
    w.window_start,
    w.since,
    w.tries,
    case
      when w.window_start < $2::timestamptz then 'blocked'
      when w.window_end > /*:kept_sealed_until*/$1::timestamptz/*.*/ or $1::timestamptz is null then 'seal'
      when w.blocked_reason is not null then 'blocked'
      when w.error is not null then 'failing'
      else 'run'
    end as waits_for,
    case
      when w.window_start < $2::timestamptz then format('bronze is complete from %s on, and the window starts earlier', $2::text)
      else coalesce(w.blocked_reason, w.error)
    end as reason
  from keyed_window as w
  /*:window_kept_join*/left join errata.daily_orders_override as o on array[o.region] = array[w.region]/*.*/
)
select
  j.waits_for,
  j.reason,
  count(*)::text as keyed_windows,
  max(j.tries) as tries,
  min(j.window_start)::text as first_window_start,
  max(j.window_start)::text as last_window_start,
  min(j.since)::text as since,
  extract(epoch from $3::timestamptz - min(j.since))::text as age_seconds
from judged as j
group by j.waits_for, j.reason
order by j.waits_for, min(j.since), j.reason
