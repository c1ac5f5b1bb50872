-- Copies are no late events (R5): within a window the first row of an event id counts, by ingested_at, then by digest.
-- A copy of a row ingested before the range cannot be told, and counts.
--
-- Inputs: pg_temp.errata_lateness. Rows out: one, the number of copies, which are taken out of it.
-- Safe to repeat: what is left are first copies.
with ranked as (
  select
    c.ctid as row_place,
    row_number() over (
      partition by c.errata_twin_id, w.window_end
      order by c.errata_ingested_at, c.errata_twin_digest collate "C"
    ) as place
  from pg_temp.errata_lateness as c
  left join lateral /*:windows*/errata.daily_orders_windows/*.*/ (c.errata_event_time) as w on true
  where c.errata_twin_id is not null and c.errata_set_aside is null
),
removed as (
  delete from pg_temp.errata_lateness as c
  using ranked as r
  where c.ctid = r.row_place and r.place > 1
  returning 1
)
select count(*)::text as copies from removed
