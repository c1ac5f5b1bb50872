-- What awaits someone in one rollup. Rows out: one.
--
-- $1 sealed_until: the watermark that seals; null before the first seal
-- $2 complete_from: bronze is complete from here on
select
  (select count(*) from /*:late_event*/gold.daily_orders_late_event/*.*/ as e where e.state = 'pending' and not e.released)::text as pending_events,
  (
    select count(*)
    from (
      select distinct q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
      from /*:touched*/errata.daily_orders_touched/*.*/ as q
      where q.window_start < $2::timestamptz or q.blocked_reason is not null
    ) as b
  )::text as blocked_windows,
  (
    select count(*)
    from (
      select distinct q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
      from /*:touched*/errata.daily_orders_touched/*.*/ as q
      /*:queue_kept_join*/left join errata.daily_orders_override as o on array[o.region] = array[q.region]/*.*/
      where q.window_end <= /*:kept_sealed_until*/$1::timestamptz/*.*/ and q.window_start >= $2::timestamptz and q.blocked_reason is null
    ) as b
  )::text as queued_windows,
  (select min(q.since) from /*:touched*/errata.daily_orders_touched/*.*/ as q)::text as oldest_queued,
  (select count(*) from /*:emission*/errata.daily_orders_emission/*.*/ as m where m.kind = 'late_seal')::text as late_seals
