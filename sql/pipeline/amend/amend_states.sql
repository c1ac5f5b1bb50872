-- Amend: what became of the events with a state (R7, R14). One that is gone from bronze awaits nothing any more; the
-- version that included it did so once, and the next one's remainder is the source change. One whose row has changed, or
-- whose place a copy has taken, keeps its state and, unless a version included it, has the new row's share.
--
-- $1 run_id: bigint
-- $2 released_causes: text[], the causes that the policy publishes by itself (R10)
--
-- Inputs: pg_temp.errata_amended, pg_temp.errata_amended_row. Rows out: one an event that differs. Safe to repeat.
with unnamed as (
  -- the changed row has a new xmin, so the scan took it for new
  delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  using pg_temp.errata_amended as a
  where e.window_start = a.window_start
    and e.window_end is not distinct from a.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
    and e.cause = 'straggler'
    and e.state = 'pending'
    and e.first_run_id = $1::bigint
),
fate as (
  select
    e.ctid as place,
    f.errata_event_id is null as is_gone,
    e.state is not distinct from 'included' as is_included,
    coalesce(e.row_digest <> f.errata_row_digest, false) as is_changed,
    f.errata_event_time, f.errata_ingested_at, f.errata_arrived_at, f.errata_source_partition, f.errata_row_digest
    /*:each measure*/ , m./*:measure*/revenue/*.*/ /*:end*/
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  join pg_temp.errata_amended as a
    on a.window_start = e.window_start
    and a.window_end = e.window_end
    /*:each key*/ and array[a./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
  left join pg_temp.errata_amended_row as f
    on f.errata_window_start = e.window_start
    and f.errata_window_end = e.window_end
    /*:each key*/ and array[f./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
    and f.errata_event_id = e.event_id
    and f.errata_place = 1
  cross join lateral (
    select count(*) as errata_event_count /*:each measure*/ , /*:contribution*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/ /*:end*/
    from (select f.*) as one
    /*:except_failing_row*/where true/*.*/
  ) as m
  where e.landing is not null
    and not (e.cause = 'straggler' and e.state is not distinct from 'pending' and e.first_run_id = $1::bigint)
    and (
      (f.errata_event_id is null) is distinct from (e.gone_run_id is not null)
      or e.row_digest <> f.errata_row_digest
    )
)
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set
  state = case when t.is_included then 'included' when not t.is_gone then coalesce(e.state, 'pending') end,
  released = case when t.is_included then e.released when t.is_gone then false when e.state is null then e.cause = any ($2::text[]) else e.released end,
  gone_run_id = case when t.is_gone then $1::bigint end,
  row_digest = coalesce(t.errata_row_digest, e.row_digest),
  event_time = case when t.is_changed and not t.is_included then t.errata_event_time else e.event_time end,
  ingested_at = case when t.is_changed and not t.is_included then t.errata_ingested_at else e.ingested_at end,
  arrived_at = case when t.is_changed and not t.is_included then t.errata_arrived_at else e.arrived_at end,
  source_partition = case when t.is_changed and not t.is_included then t.errata_source_partition else e.source_partition end,
  lateness_seconds = case
    when t.is_changed and not t.is_included then extract(epoch from t.errata_arrived_at - t.errata_event_time)
    else e.lateness_seconds
  end,
  /*:each measure*/ /*:measure*/revenue/*.*/ = case when t.is_changed and not t.is_included then t./*:measure*/revenue/*.*/ else e./*:measure*/revenue/*.*/ end, /*:end*/
  state_run_id = $1::bigint
from fate as t
where e.ctid = t.place
