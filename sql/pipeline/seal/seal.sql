-- Seal: version 1 of every keyed window that the watermark has passed since the last run, over the rows that landed
-- open (R8). One read of those windows, whatever their number.
--
-- $1 sealing_from, $2 sealing_to: where the windows to seal start, half-open
-- $3 ingested_from: no row of those windows was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
-- $5 events_to: end of the last of those windows
-- $6 run_id: bigint
-- $7 stamp: instant of publication
-- $8 actor, $9 reason: text
-- $10 definition_fingerprint: text
--
-- Inputs: bronze, pg_temp.errata_excluded, pg_temp.errata_copied. Rows out: one a version 1. Safe to repeat: the ledger takes one version 1.
with copied_id as (
  select distinct c.window_start, c.window_end, c.event_id
  from pg_temp.errata_copied as c
),
window_row as (
  select w.window_start as errata_window_start, w.window_end as errata_window_end, w.local_date as errata_local_date, r.*, 1::bigint as errata_twin, 0::bigint as errata_copies
  from /*:span_source*/errata.daily_orders_source () as r/*.*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  /*:row_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
  where /*:in_range*/w.window_start >= $1::timestamptz and w.window_start < $2::timestamptz/*.*/
    and r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $5::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_is_valid
    /*:in_span*/and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to and w.window_start >= g.sealing_from and w.window_start < g.sealing_to/*.*/
    /*:key_is_sealing*/and w.window_start >= coalesce(v.errata_sealing_from, g.others_from) and w.window_start < coalesce(v.errata_sealing_to, g.others_to)/*.*/
    and not exists (
      select from copied_id as i
      where i.window_start = w.window_start and i.window_end = w.window_end and i.event_id = r.errata_event_id
    )
  union all
  -- The few ids that have copies: of equal rows all but the recorded copies count.
  select
    i.window_start, i.window_end, w.local_date, r.*,
    row_number() over (partition by i.window_start, i.window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_event_id, r.errata_row_digest),
    coalesce(c.copies, 0)
  from /*:span_join*/pg_temp.errata_sealing_span as g cross join/*.*/ copied_id as i
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = i.event_id
    and r.errata_event_time >= i.window_start
    and r.errata_event_time < i.window_end
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  left join pg_temp.errata_copied as c
    on c.window_start = i.window_start
    and c.window_end = i.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.row_digest = r.errata_row_digest
  /*:row_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $5::timestamptz
    and w.window_start = i.window_start
    and w.window_end = i.window_end
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_is_valid
    /*:in_span*/and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to and w.window_start >= g.sealing_from and w.window_start < g.sealing_to/*.*/
    /*:key_is_sealing*/and w.window_start >= coalesce(v.errata_sealing_from, g.others_from) and w.window_start < coalesce(v.errata_sealing_to, g.others_to)/*.*/
),
counted_row as (
  select r.*
  from window_row as r
  where r.errata_twin > r.errata_copies
    and not exists (
      select from pg_temp.errata_excluded as n
      where n.window_start = r.errata_window_start
        and n.window_end = r.errata_window_end
        /*:each key*/ and array[n./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
        and n.event_id = r.errata_event_id
    )
    /*:except_failing*/and true/*.*/
)
-- measured
insert into /*:ledger*/gold.daily_orders/*.*/ as g (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
  version, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count,
  kind, reason, actor, run_id, stamp, sealed_at, definition_fingerprint
)
select
  r.errata_window_start, r.errata_window_end, r.errata_local_date, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  1, /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*),
  'seal', $9::text, $8::text, $6::bigint, $7::timestamptz, $7::timestamptz, $10::text
from counted_row as r
group by r.errata_window_start, r.errata_window_end, r.errata_local_date /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
