-- Recompute: the measures of touched keyed windows, over the counted set, read whole from bronze (R7).
--
-- $1 ingested_from: no row of these windows was ingested earlier; null where that cannot be known
-- $2 bound: bound of this run
-- $3 skew: interval, how much earlier than its start a row of a window may have been ingested; null where that cannot be known
-- $4 events_from, $5 events_to: all event times of these windows, half-open
--
-- Executed over pg_temp.errata_stretch and into errata_stretch_result for what partials leave to read, one stretch of ingestion
-- after the other.
--
-- Inputs: pg_temp.errata_touched, analysed; bronze, pg_temp.errata_excluded, pg_temp.errata_copied. Rows
-- out: one a keyed window and target that has rows, into pg_temp.errata_result. Safe to repeat: writes work tables only.
--
-- Executed for the keyed windows that are read in one go, and once more for those that look_up.sql marks: then a fence stands
-- where rows are fetched, so that each window is looked up by itself whatever the planner thinks of it.
-- The window is matched twice, by the range of event times and by the computed start: the range serves an index, the
-- equality a hash join.
-- Keys are matched by `=` where none is NULL; `is not distinct from` would leave only nested loops.
--
-- Most keyed windows leave nothing out, and their rows are counted as they come; the others' are compared by their ids, made
-- text for it. Grouped by the place of the window in the work table and not by what it is called: of 7.9 million rows all in
-- one way the comparing took 5.6 s of 15.8, and four columns to group by 3.2.
-- Rejected: all columns of the source in the branches, the digest with them: the planner does not drop there what nobody asks for.
with copied_id as (
  select distinct t.ctid as errata_tid, c.target, c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.event_id /*:of_stretch*//*.*/
  from pg_temp.errata_copied as c
  join /*:reading*/pg_temp.errata_touched/*.*/ as t
    on t.target = c.target
    and t.window_start = c.window_start
    and t.window_end = c.window_end
    /*:each key*/ and array[t./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  where t.is_parted is not true
    and t.is_looked_up is /*:looked_up*/true/*.*/
),
window_row as (
  select t.ctid as errata_tid, t.target as errata_target, t.window_start as errata_window_start, t.window_end as errata_window_end, 1::bigint as errata_twin, 0::bigint as errata_copies, r.errata_event_id
    /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from /*:reading*/pg_temp.errata_touched/*.*/ as t
  cross join lateral (
    select s.*
    from /*:source*/errata.daily_orders_source/*.*/ () as s
    where s.errata_event_time >= t.window_start
      and s.errata_event_time < t.window_end
      /*:each key*/ and s./*:key*/region/*.*/ = t./*:key*/region/*.*/ /*:end*/
      and (s.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
      and (s.errata_ingested_at >= t.window_start - $3::interval or $3::interval is null)
      and s.errata_ingested_at <= $2::timestamptz
      and s.errata_event_time >= $4::timestamptz
      and s.errata_event_time < $5::timestamptz
      and s.errata_is_valid
      /*:in_stretch*//*.*/
    /*:fence*/offset 0/*.*/
  ) as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where t.has_left_out is true
    and not t.has_null_key
    and t.is_parted is not true
    and t.is_looked_up is /*:looked_up*/true/*.*/
    and w.window_start = t.window_start
  union all
  -- never looked up: `=` finds no NULL in an index
  select t.ctid, t.target, t.window_start, t.window_end, 1, 0, r.errata_event_id /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from /*:reading*/pg_temp.errata_touched/*.*/ as t
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= t.window_start
    and r.errata_event_time < t.window_end
    /*:each key*/ and array[r./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where t.has_null_key
    and t.is_parted is not true
    and t.is_looked_up is /*:looked_up*/true/*.*/
    and w.window_start = t.window_start
    and (r.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
    and r.errata_ingested_at <= $2::timestamptz
    and r.errata_event_time >= $4::timestamptz
    and r.errata_event_time < $5::timestamptz
    and r.errata_is_valid
),
counted_row as (
  select t.ctid as errata_tid, t.target as errata_target, t.window_start as errata_window_start, t.window_end as errata_window_end
    /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from /*:reading*/pg_temp.errata_touched/*.*/ as t
  cross join lateral (
    select s.*
    from /*:source*/errata.daily_orders_source/*.*/ () as s
    where s.errata_event_time >= t.window_start
      and s.errata_event_time < t.window_end
      /*:each key*/ and s./*:key*/region/*.*/ = t./*:key*/region/*.*/ /*:end*/
      and (s.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
      and (s.errata_ingested_at >= t.window_start - $3::interval or $3::interval is null)
      and s.errata_ingested_at <= $2::timestamptz
      and s.errata_event_time >= $4::timestamptz
      and s.errata_event_time < $5::timestamptz
      and s.errata_is_valid
      /*:in_stretch*//*.*/
    /*:fence*/offset 0/*.*/
  ) as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where t.has_left_out is not true
    and not t.has_null_key
    and t.is_parted is not true
    and t.is_looked_up is /*:looked_up*/true/*.*/
    and w.window_start = t.window_start
  union all
  select r.errata_tid, r.errata_target, r.errata_window_start, r.errata_window_end /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
  from (
    select r.*
    from window_row as r
    where not exists (
      select from copied_id as i
      where i.event_id = r.errata_event_id
        and i.target = r.errata_target
        and i.window_start = r.errata_window_start
        and i.window_end = r.errata_window_end
        /*:each key*/ and array[i./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    )
    union all
    -- The few ids that have copies: of equal rows all but the recorded copies count.
    select
      i.errata_tid, i.target, i.window_start, i.window_end,
      row_number() over (partition by i.target, i.window_start, i.window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_event_id, r.errata_row_digest),
      coalesce(c.copies, 0),
      i.event_id
      /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
    from copied_id as i
    cross join lateral (
      select s.*
      from /*:source*/errata.daily_orders_source/*.*/ () as s
      where s.errata_event_id = i.event_id
        and s.errata_event_time >= i.window_start
        and s.errata_event_time < i.window_end
        /*:each key*/ and s./*:key*/region/*.*/ /*:same_key*/=/*.*/ i./*:key*/region/*.*/ /*:end*/
        and (s.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
        and s.errata_ingested_at <= $2::timestamptz
        and s.errata_event_time >= $4::timestamptz
        and s.errata_event_time < $5::timestamptz
        and s.errata_is_valid
        /*:id_in_stretch*//*.*/
      /*:fence*/offset 0/*.*/
    ) as r
    left join pg_temp.errata_copied as c
      on c.target = i.target
      and c.window_start = i.window_start
      and c.window_end = i.window_end
      /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
      and c.event_id = r.errata_event_id
      and c.row_digest = r.errata_row_digest
  ) as r
  where r.errata_twin > r.errata_copies
    and not exists (
      select from pg_temp.errata_excluded as n
      where n.event_id = r.errata_event_id
        and n.target = r.errata_target
        and n.window_start = r.errata_window_start
        and n.window_end = r.errata_window_end
        /*:each key*/ and array[n./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    )
)
-- measured
insert into /*:measured_into*/pg_temp.errata_result/*.*/ (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  t.target, t.window_start, t.window_end, /*:each key*/ t./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ m./*:measure*/revenue/*.*/, /*:end*/ m.errata_event_count
from (
  select r.errata_tid, /*:each measure*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as errata_event_count
  from counted_row as r
  group by r.errata_tid
) as m
join /*:reading*/pg_temp.errata_touched/*.*/ as t on t.ctid = m.errata_tid
