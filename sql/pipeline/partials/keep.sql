-- Partials: the measures of each keyed window over all valid rows of one closed ingestion partition.
--
-- $1 relation: oid of the partition
-- $2 is_told: boolean; what it is divided by tells its rows
--
-- Rows out: one a keyed window that has rows there. Not safe to repeat: those of before are forgotten first.
insert into /*:partial*/errata.daily_orders_partial/*.*/ (
  relation_id, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count, copies
)
select
  $1::oid, r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*), 0
from (
  select w.window_start as errata_window_start, w.window_end as errata_window_end /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from (
    select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
  ) as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where (r.errata_relation = $1::oid or $2::boolean)
    and r.errata_is_valid
) as r
group by r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
