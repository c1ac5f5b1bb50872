-- Reconcile: the same event id in another window (R5). Where several rows of one id are counted somewhere, each of their
-- keyed windows is named `counted by both`; where one is, the others are copies in another window.
--
-- $1 events_from, $2 events_to: event times, half-open; null: without an end
-- $3 window_from: windows that start here and later are named
-- $4 sealed_until: the watermark that seals
-- $5 window_to: windows that start before this are named
-- $6 bound: rows ingested later have not been examined
-- $7 knows_ages: boolean; transaction ages of rows can be compared with pg_temp.errata_read
-- $8 transaction: the 64-bit number to which age() counts back
--
-- Inputs: pg_temp.errata_shared_id, analysed; pg_temp.errata_compared: only its keyed windows are named. Rows out: one a
-- row and keyed window, into pg_temp.errata_finding. Safe to repeat: writes work tables only.
with id_row as (
  select
    w.window_start as errata_window_start,
    w.window_end as errata_window_end,
    r.*,
    c.event_id is not null as errata_is_copy,
    false as errata_is_new
  from pg_temp.errata_shared_id as i
  join /*:source*/errata.daily_orders_source/*.*/ () as r on r.errata_event_id = i.event_id
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  left join pg_temp.errata_read as p on p.relation_id = r.errata_relation
  left join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.window_start = w.window_start
    and c.window_end = w.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
    and c.event_id = r.errata_event_id
    and c.ingested_at = r.errata_ingested_at
    and c.row_digest = r.errata_row_digest
    and not c.is_identical
  where (r.errata_event_time >= $1::timestamptz or $1::timestamptz is null)
    and (r.errata_event_time < $2::timestamptz or $2::timestamptz is null)
    and r.errata_is_valid
    -- what no run has examined is counted nowhere yet
    and not case
      when r.errata_relation is null or not $7::boolean then r.errata_ingested_at > $6::timestamptz
      when p.relation_id is null or p.horizon_age is null then true
      else (r.errata_row_age <= p.horizon_age and not (p.seen @> ($8::bigint - r.errata_row_age)))
        or r.errata_ingested_at > p.bound
    end
),
ranked as (
  select
    r.*,
    /*:place_of_copy*/row_number() over (
      partition by r.errata_window_start, r.errata_window_end, r.errata_event_id
      order by r.errata_is_copy, r.errata_is_new, r.errata_ingested_at, r.errata_row_digest collate "C"
    )/*.*/ as errata_place
  from id_row as r
),
placed as (
  select
    c.errata_window_start as window_start,
    c.errata_window_end as window_end,
    /*:each key*/ c./*:key*/region/*.*/, /*:end*/
    c.errata_event_id as event_id,
    c.errata_row_digest as row_digest,
    c.errata_event_time as event_time,
    c.errata_ingested_at as ingested_at
  from ranked as c
  where c.errata_place = 1 and not c.errata_is_copy
),
judged as (
  select
    c.*,
    -- what is excepted has a state row; an ordinary open row is counted once its window is sealed (R7)
    coalesce(e.state = 'included', c.window_end <= /*:compared_sealed_until*/$4::timestamptz/*.*/, false) as is_counted
  from placed as c
  /*:compared_kept_join*/left join errata.daily_orders_override as o on array[o.region] = array[c.region]/*.*/
  left join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = c.window_start
    and e.window_end = c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and e.event_id = c.event_id
    and e.row_digest = c.row_digest
    and e.state is not null
),
shared as (
  select
    c.event_id,
    count(distinct c.row_digest) filter (where c.is_counted) as counted,
    (jsonb_agg(
      jsonb_build_object(
        'window_start', c.window_start::text,
        'window_end', c.window_end::text,
        'key', jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/),
        'event_time', c.event_time::text,
        'ingested_at', c.ingested_at::text,
        'counted', c.is_counted
      ) order by c.ingested_at, c.window_start
    )) as places
  from judged as c
  group by c.event_id
  having count(distinct c.row_digest) > 1
)
insert into pg_temp.errata_finding (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail)
select
  j.window_start, j.window_end, /*:each key*/ j./*:key*/region/*.*/, /*:end*/
  case when s.counted > 1 and j.is_counted then 'counted by both' else 'copy in another window' end,
  j.event_id,
  j.row_digest,
  -- its ten first places say enough
  jsonb_build_object('places', jsonb_path_query_array(s.places, '$[0 to 9]'))
from judged as j
join shared as s using (event_id)
join pg_temp.errata_compared as c
  on c.window_start = j.window_start
  and c.window_end = j.window_end
  /*:each key*/ and array[c./*:key*/region/*.*/] = array[j./*:key*/region/*.*/] /*:end*/
where j.window_start >= $3::timestamptz
  and j.window_start < $5::timestamptz
