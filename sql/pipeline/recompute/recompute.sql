-- Recompute: the measures of each touched keyed window, over the counted set, read whole from bronze (R7).
--
-- $1 ingested_from: no row of these windows was ingested earlier; null where that cannot be known
-- $2 bound: bound of this run
--
-- Inputs: pg_temp.errata_touched, analysed; bronze, pg_temp.errata_excluded, pg_temp.errata_copied. Rows
-- out: one a keyed window and target that has rows, into pg_temp.errata_result. Safe to repeat: writes work tables only.
--
-- Most keyed windows leave nothing out, and their rows are counted as they come: without their ids as text, which the others
-- are compared by. All in one way, 476 days of 2.6 million rows took 21 s, sorted in files since the planner took them for 1,451.
--
-- The window is matched twice, by the range of event times and by the computed start: the range serves an index when
-- few windows are touched, the equality a hash join when many are.
-- Keys are matched by `=` where none is NULL; `is not distinct from` would leave only nested loops.
with copied_id as (
  select distinct c.target, c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.event_id
  from pg_temp.errata_copied as c
),
window_row as (
  select t.target as errata_target, t.window_start as errata_window_start, t.window_end as errata_window_end, r.*, 1::bigint as errata_twin, 0::bigint as errata_copies
  from pg_temp.errata_touched as t
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= t.window_start
    and r.errata_event_time < t.window_end
    /*:each key*/ and r./*:key*/region/*.*/ = t./*:key*/region/*.*/ /*:end*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where t.has_left_out is true
    and not t.has_null_key
    and w.window_start = t.window_start
    and (r.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
    and r.errata_ingested_at <= $2::timestamptz
    and r.errata_is_valid
    and not exists (
      select from copied_id as i
      where i.target = t.target
        and i.window_start = t.window_start
        and i.window_end = t.window_end
        /*:each key*/ and i./*:key*/region/*.*/ = r./*:key*/region/*.*/ /*:end*/
        and i.event_id = r.errata_event_id
    )
  union all
  select t.target, t.window_start, t.window_end, r.*, 1, 0
  from pg_temp.errata_touched as t
  cross join lateral (
    select s.*
    from /*:source*/errata.daily_orders_source/*.*/ () as s
    where s.errata_event_time >= t.window_start
      and s.errata_event_time < t.window_end
      /*:each key*/ and s./*:key*/region/*.*/ is not distinct from t./*:key*/region/*.*/ /*:end*/
      and (s.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
      and s.errata_ingested_at <= $2::timestamptz
      and s.errata_is_valid
    offset 0
  ) as r
  where t.has_null_key
    and not exists (
      select from copied_id as i
      where i.target = t.target
        and i.window_start = t.window_start
        and i.window_end = t.window_end
        /*:each key*/ and array[i./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
        and i.event_id = r.errata_event_id
    )
  union all
  -- The few ids that have copies: of equal rows all but the recorded copies count.
  select
    i.target, i.window_start, i.window_end, r.*,
    row_number() over (partition by i.target, i.window_start, i.window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_event_id, r.errata_row_digest),
    coalesce(c.copies, 0)
  from copied_id as i
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = i.event_id
    and r.errata_event_time >= i.window_start
    and r.errata_event_time < i.window_end
    /*:each key*/ and array[r./*:key*/region/*.*/] = array[i./*:key*/region/*.*/] /*:end*/
  left join pg_temp.errata_copied as c
    on c.target = i.target
    and c.window_start = i.window_start
    and c.window_end = i.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.row_digest = r.errata_row_digest
  where (r.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
    and r.errata_ingested_at <= $2::timestamptz
    and r.errata_is_valid
),
counted_row as (
  select t.target as errata_target, t.window_start as errata_window_start, t.window_end as errata_window_end, r.*, 1::bigint as errata_twin, 0::bigint as errata_copies
  from pg_temp.errata_touched as t
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= t.window_start
    and r.errata_event_time < t.window_end
    /*:each key*/ and r./*:key*/region/*.*/ = t./*:key*/region/*.*/ /*:end*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where t.has_left_out is not true
    and not t.has_null_key
    and w.window_start = t.window_start
    and (r.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
    and r.errata_ingested_at <= $2::timestamptz
    and r.errata_is_valid
  union all
  select r.*
  from window_row as r
  where r.errata_twin > r.errata_copies
    and not exists (
      select from pg_temp.errata_excluded as n
      where n.target = r.errata_target
        and n.window_start = r.errata_window_start
        and n.window_end = r.errata_window_end
        /*:each key*/ and array[n./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
        and n.event_id = r.errata_event_id
    )
)
-- measured
insert into pg_temp.errata_result (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  r.errata_target, r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*)
from counted_row as r
group by r.errata_target, r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
