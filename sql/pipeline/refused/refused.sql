-- Refused: take up what the stream's table of refused rows says that no run has seen yet (R2). Whatever the order in
-- which its transactions committed, an entry that is not known is new.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
--
-- Rows out: one a new entry, into refused_entry; of those that were written several times the earliest. Safe to repeat.
with entry as (
  select distinct on (s.event_id, s.event_time, s.window_start, s.window_end) s.*
  from (
    select
      /*:refused_event_id*/f.order_id::text/*.*/ as event_id,
      /*:refused_event_time*/f.ordered_at/*.*/ as event_time,
      /*:refused_window_start*/f.ws/*.*/ as window_start,
      /*:refused_window_end*/f.we/*.*/ as window_end,
      /*:refused_watermark*/f.wm/*.*/ as watermark,
      /*:refused_at*/f.written_at/*.*/ as refused_at
    from /*:refused*/stream.refused/*.*/ as f
  ) as s
  where not exists (
    select from /*:schema*/errata/*.*/.refused_entry as e
    where e.rollup_id = $1::integer
      and array[e.event_id] = array[s.event_id]
      and array[e.event_time, e.window_start, e.window_end] = array[s.event_time, s.window_start, s.window_end]
  )
  order by s.event_id, s.event_time, s.window_start, s.window_end, s.refused_at, s.watermark
)
insert into /*:schema*/errata/*.*/.refused_entry (
  rollup_id, event_id, event_time, window_start, window_end, watermark, refused_at, first_run_id
)
select $1::integer, n.event_id, n.event_time, n.window_start, n.window_end, n.watermark, n.refused_at, $2::bigint
from entry as n
