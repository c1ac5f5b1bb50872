-- Partials: of the keyed windows that have copies in one ingestion partition, the measures without them (R5).
--
-- $1 relation: oid of the partition
-- $2 ingested_from, $3 ingested_to: its bounds
--
-- Inputs: its partials, kept by keep.sql. Rows out: one a keyed window with copies there. Safe to repeat.
--
-- Where a partition has no copies, as most have none, bronze is not read again.
with span as materialized (
  select min(p.window_start) as earliest, max(p.window_start) as latest
  from /*:partial*/errata.daily_orders_partial/*.*/ as p
  where p.relation_id = $1::oid
),
copied as materialized (
  select c.*
  from span as s
  join /*:copy*/errata.daily_orders_copy/*.*/ as c on c.window_start between s.earliest and s.latest
  where c.ingested_at >= $2::timestamptz
    and c.ingested_at < $3::timestamptz
),
copied_window as materialized (
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ sum(c.copies)::bigint as copies
  from copied as c
  group by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
),
forgotten as (
  delete from /*:partial*/errata.daily_orders_partial/*.*/ as p
  using copied_window as c
  where p.relation_id = $1::oid
    and p.window_start = c.window_start
    and p.window_end = c.window_end
    /*:each key*/ and array[p./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
),
window_row as (
  select
    c.window_start as errata_window_start, c.window_end as errata_window_end, r.errata_event_id, r.errata_row_digest
    /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from copied_window as c
  join (
    select r.*, w.window_start as errata_window_start, w.window_end as errata_window_end
    from (
      select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
    ) as r
    cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
    where r.errata_relation = $1::oid
      and r.errata_is_valid
      and exists (select from copied_window)
  ) as r
    on r.errata_window_start = c.window_start
    and r.errata_window_end = c.window_end
    /*:each key*/ and array[r./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
),
first_copy as (
  select r.errata_window_start, r.errata_window_end /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from (
    select
      r.*,
      row_number() over (
        partition by r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_event_id, r.errata_row_digest
      ) as errata_twin
    from window_row as r
  ) as r
  left join copied as c
    on c.window_start = r.errata_window_start
    and c.window_end = r.errata_window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.row_digest = r.errata_row_digest
  -- of equal rows all but the recorded copies count
  where r.errata_twin > coalesce(c.copies, 0)
),
measured as (
  select
    r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as errata_event_count
  from first_copy as r
  group by r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
)
insert into /*:partial*/errata.daily_orders_partial/*.*/ (
  relation_id, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count, copies
)
select
  $1::oid, c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ m./*:measure*/revenue/*.*/, /*:end*/ coalesce(m.errata_event_count, 0), c.copies
from copied_window as c
left join measured as m
  on m.errata_window_start = c.window_start
  and m.errata_window_end = c.window_end
  /*:each key*/ and array[m./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
