-- How many rows the stream's log says it dropped, beside how many the side output shows. Rows out: one, of nulls where
-- the log has no such counter.
--
-- $1 rollup_id: integer
--
-- Safe to repeat: it reads.
select
  d.dropped::text as dropped,
  case
    when d.dropped > 0 then (
      -- a row that was refused in several windows is one
      select count(*)
      from (
        select distinct e.event_id, e.row_digest
        from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
        where e.landing = 'side_output'
      ) as s
    )
  end::text as shown
from (
  select sum(p.dropped_total) filter (where p.dropped is not null) as dropped
  from /*:schema*/errata/*.*/.source_partition as p
  where p.rollup_id = $1::integer
) as d
