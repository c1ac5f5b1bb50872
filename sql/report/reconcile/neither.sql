-- Reconcile: rows that nobody counts, of keyed windows that do not add up: they have no state, and the latest version does
-- not hold them. An ordinary open row has no state row either, so only that is named which the version cannot hold: where
-- its run cannot have seen the row (a transaction that was not visible to it, an ingestion after its bound); of version 1
-- also what did not land open, by the history of the watermark (R8); and any row where there is no version at all.
--
-- $1 events_from, $2 events_to: all event times of those windows, half-open
-- $3 bound: rows ingested later have not been examined
-- $4 knows_ages: boolean; transaction ages of rows can be compared with pg_temp.errata_read
-- $5 transaction: the 64-bit number to which age() counts back
-- $6 rollup_id: integer; null where the history does not judge every row, since delays differ
-- $7 fixed_delay: interval; null unless the strategy is fixed_delay and delays do not differ
--
-- Inputs: pg_temp.errata_compared. Rows out: one a row, into pg_temp.errata_finding; `settle` keeps them only where they
-- are the whole difference. Safe to repeat: writes work tables only.
with wanted as (
  select distinct c.window_start, c.window_end
  from pg_temp.errata_compared as c
  where c.errata_why is null and (not c.errata_adds_up or c.errata_missing > 0)
),
window_row as (
  select
    w.window_start as errata_window_start,
    w.window_end as errata_window_end,
    r.*,
    case
      when r.errata_relation is null or not $4::boolean then r.errata_ingested_at > $3::timestamptz
      when p.relation_id is null or p.horizon_age is null then true
      else (r.errata_row_age <= p.horizon_age and not (p.seen @> ($5::bigint - r.errata_row_age)))
        or r.errata_ingested_at > p.bound
    end as errata_is_new,
    c.event_id is not null as errata_is_copy
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  join wanted as t on t.window_start = w.window_start and t.window_end = w.window_end
  left join pg_temp.errata_read as p on p.relation_id = r.errata_relation
  left join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.window_start = w.window_start
    and c.window_end = w.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.ingested_at = r.errata_ingested_at
    and c.row_digest = r.errata_row_digest
    and not c.is_identical
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $2::timestamptz
    and r.errata_is_valid
),
ranked as (
  select
    r.*,
    /*:place_of_copy*/row_number() over (
      partition by r.errata_window_start, r.errata_window_end, r.errata_event_id
      order by r.errata_is_copy, r.errata_is_new, r.errata_ingested_at, r.errata_row_digest collate "C"
    )/*.*/ as errata_place
  from window_row as r
),
latest as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/) g.*
  from wanted as t
  join /*:ledger*/gold.daily_orders/*.*/ as g on g.window_start = t.window_start and g.window_end = t.window_end
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
),
uncounted as (
  select r.*
  from ranked as r
  join pg_temp.errata_compared as c
    on c.window_start = r.errata_window_start
    and c.window_end = r.errata_window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.errata_why is null
  left join latest as g
    on g.window_start = r.errata_window_start
    and g.window_end = r.errata_window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
  left join /*:schema*/errata/*.*/.run as n on n.run_id = g.run_id
  where r.errata_place = 1
    and (not r.errata_is_copy or /*:unique_rows*/false/*.*/)
    and not r.errata_is_new
    and not exists (
      select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
      where e.window_start = r.errata_window_start
        and e.window_end = r.errata_window_end
        /*:each key*/ and array[e./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
        and e.event_id = r.errata_event_id
        and e.row_digest = r.errata_row_digest
        and e.state is not null
    )
    and (
      g.version is null
      or (
        g.version = 1
        and n.verb <> 'baseline'
        and coalesce(
          r.errata_arrived_at - $7::interval,
          (
            select s.watermark
            from /*:schema*/errata/*.*/.watermark_step as s
            where s.rollup_id = $6::integer and s.at < r.errata_ingested_at
            order by s.at desc
            limit 1
          )
        ) >= r.errata_window_end
      )
      or r.errata_ingested_at > n.bound
      or ($4::boolean and not pg_visible_in_snapshot(($5::bigint - r.errata_row_age)::text::xid8, n.snapshot))
    )
)
insert into pg_temp.errata_finding (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail, events /*:each additive*/ , /*:measure*/revenue/*.*/ /*:end*/
)
select
  r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  'counted by neither', r.errata_event_id, r.errata_row_digest,
  jsonb_build_object('event_time', r.errata_event_time::text, 'ingested_at', r.errata_ingested_at::text),
  1 /*:each additive*/ , m./*:measure*/revenue/*.*/ /*:end*/
from uncounted as r
cross join lateral (
  select count(*) as errata_event_count /*:each additive*/ , /*:contribution*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/ /*:end*/
  from (select r.*) as one
) as m
