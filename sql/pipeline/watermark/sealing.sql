-- Watermark: the windows between what earlier runs sealed and what the watermark before the bound seals: all those that
-- end at or before it, and start where bronze is complete (R8, R15).
--
-- $1 rollup_id: integer
-- $2 bound: bound of this run
-- $3 sealed_before: the watermark that sealed in earlier runs; null before the first
-- $4 complete_from: bronze is complete from here on
-- $5 after: interval, how much more of ingested_at to wait for the stream's version 1
-- $6 fixed_delay: interval; null unless the strategy is fixed_delay
-- $7 overlap: interval, how far the windows that start before an instant reach beyond it
-- $8 skew: interval; null where nothing says when the rows of a window were ingested at the earliest
--
-- Rows out: one. `gone`: partitions that are gone and held rows of those windows. Reads only.
with reached as (
  select greatest(
    case
      when $6::interval is not null then /*:fixed_reached*/$2::timestamptz - $5::interval - $6::interval/*.*/
      else (
        -- the latest step is the greatest: the watermark never goes back
        select s.watermark
        from /*:schema*/errata/*.*/.watermark_step as s
        where s.rollup_id = $1::integer and s.at < $2::timestamptz - $5::interval
        order by s.at desc
        limit 1
      )
    end,
    $3::timestamptz
  ) as until
),
span as (
  select
    r.until,
    greatest(
      coalesce(/*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ ($3::timestamptz), '-infinity'),
      case
        when isfinite($4::timestamptz) then /*:starting_from*/errata.daily_orders_starting_from/*.*/ ($4::timestamptz)
        else $4::timestamptz
      end
    ) as start,
    /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (r.until) as stop
  from reached as r
)
select
  s.until,
  s.start as "from",
  greatest(s.stop, s.start) as "to",
  greatest(s.stop, s.start) + $7::interval as events_to,
  s.start - $8::interval as ingested_from,
  (
    select string_agg(p.relation, ', ' order by p.relation)
    from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $1::integer
      and p.gone_at is not null
      and p.event_time_to >= s.start
      and p.event_time_from < s.stop + $7::interval
  ) as gone
from span as s
