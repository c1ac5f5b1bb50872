-- Reconcile: the partials of one ingestion partition beside what its rows give, for the keyed windows of the sweep (R14, R20).
--
-- $1 relation: oid of the partition, whose content is that of which they were kept
-- $2 partition: text, its name
-- $3 ingested_from, $4 ingested_to: its bounds of ingested_at; null where it has none on a side
-- $5 window_from, $6 window_to: where the windows of the sweep start, half-open
--
-- Those that no run would use are passed over: of changed rows, of rows let out of quarantine, of other copies by now.
-- Inputs: pg_temp.errata_compared. Rows out: one a keyed window that differs, into pg_temp.errata_finding. Safe to repeat: writes
-- work tables only.
with copied as materialized (
  select c.*
  from /*:copy*/errata.daily_orders_copy/*.*/ as c
  where c.window_start >= $5::timestamptz
    and c.window_start < $6::timestamptz
    and (c.ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and (c.ingested_at < $4::timestamptz or $4::timestamptz is null)
),
copied_window as (
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ sum(c.copies) as copies
  from copied as c
  group by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
),
window_row as (
  select
    w.window_start as errata_window_start, w.window_end as errata_window_end, r.errata_event_id, r.errata_row_digest
    /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from (
    select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
  ) as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where r.errata_relation = $1::oid
    and r.errata_is_valid
    and w.window_start >= $5::timestamptz
    and w.window_start < $6::timestamptz
),
first_copy as (
  select r.errata_window_start, r.errata_window_end /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from window_row as r
  where not exists (select from copied as c where c.event_id = r.errata_event_id)
  union all
  select r.errata_window_start, r.errata_window_end /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from (
    select
      r.*,
      row_number() over (
        partition by r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_event_id, r.errata_row_digest
      ) as errata_twin
    from window_row as r
    where exists (select from copied as c where c.event_id = r.errata_event_id)
  ) as r
  left join copied as c
    on c.window_start = r.errata_window_start
    and c.window_end = r.errata_window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.row_digest = r.errata_row_digest
  where r.errata_twin > coalesce(c.copies, 0)
),
given as (
  select
    r.errata_window_start as window_start, r.errata_window_end as window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as event_count
  from first_copy as r
  group by r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
),
kept as (
  select p.*
  from /*:partial*/errata.daily_orders_partial/*.*/ as p
  where p.relation_id = $1::oid
    and p.window_start >= $5::timestamptz
    and p.window_start < $6::timestamptz
)
insert into pg_temp.errata_finding (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail)
select
  c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  'partial differs', $2::text, '',
  jsonb_build_object(
    'kept', jsonb_build_object('event_count', k.event_count::text /*:each measure*/ , /*:measure_name*/'revenue'/*.*/, k./*:measure*/revenue/*.*/::text /*:end*/),
    'bronze', jsonb_build_object('event_count', g.event_count::text /*:each measure*/ , /*:measure_name*/'revenue'/*.*/, g./*:measure*/revenue/*.*/::text /*:end*/)
  )
from pg_temp.errata_compared as c
left join kept as k
  on k.window_start = c.window_start
  and k.window_end = c.window_end
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join given as g
  on g.window_start = c.window_start
  and g.window_end = c.window_end
  /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join copied_window as o
  on o.window_start = c.window_start
  and o.window_end = c.window_end
  /*:each key*/ and array[o./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
where (
    coalesce(k.event_count, 0) <> coalesce(g.event_count, 0)
    or (coalesce(k.event_count, 0) > 0 and (/*:kept_differs*/k.revenue is distinct from g.revenue/*.*/))
  )
  and coalesce(k.copies, 0) = coalesce(o.copies, 0)
  and not exists (
    select from /*:partial*/errata.daily_orders_partial/*.*/ as p
    where p.relation_id = 0
      and p.window_start = c.window_start
      and p.window_end = c.window_end
      /*:each key*/ and array[p./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  )
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.cause = 'quarantine_release'
      and e.window_start = c.window_start
      and e.window_end = c.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  )
