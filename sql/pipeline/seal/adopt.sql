-- Adopt: what the stream's own result table says of sealed windows (R8). A keyed window without any version gets it as
-- version 1; where Errata published first it is a late seal; a value that has changed since is a later emission.
--
-- $1 sealed_until: the watermark that seals
-- $2 run_id: bigint
-- $3 stamp: instant of publication
-- $4 definition_fingerprint: text
--
-- Rows out: one a keyed window that the table says something new of. Safe to repeat: what was said before is passed over.
with said as (
  select
    w.window_start, w.window_end, w.local_date, /*:each key*/ t./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ t./*:measure*/revenue/*.*/::/*:measure_type*/numeric/*.*/ as /*:measure*/revenue/*.*/, /*:end*/
    /*:adopted_event_count*/null::bigint/*.*/ as event_count
  from /*:result_table*/gold.daily_orders_sealed/*.*/ as t
  cross join lateral /*:adopted_window*/errata.daily_orders_windows(t.window_start)/*.*/ as w
  /*:said_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[t.region]/*.*/
  where w.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
    and w.window_start = t.window_start
),
known as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/) g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version
),
emitted as (
  select distinct on (e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/) e.*
  from /*:emission*/errata.daily_orders_emission/*.*/ as e
  order by e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.emission_id desc
),
news as (
  select s.*, k.version as first_version
  from said as s
  left join known as k
    on k.window_start = s.window_start
    and k.window_end = s.window_end
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
  left join emitted as e
    on e.window_start = s.window_start
    and e.window_end = s.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
  where case
    when e.emission_id is not null then (false /*:each measure*/ or e./*:measure*/revenue/*.*/ is distinct from s./*:measure*/revenue/*.*/ /*:end*/)
    when k.version = 1 then (false /*:each measure*/ or k./*:measure*/revenue/*.*/ is distinct from s./*:measure*/revenue/*.*/ /*:end*/)
    else true
  end
),
adopted as (
  insert into /*:ledger*/gold.daily_orders/*.*/ (
    window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    version, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count,
    kind, run_id, stamp, sealed_at, definition_fingerprint
  )
  select
    n.window_start, n.window_end, n.local_date, /*:each key*/ n./*:key*/region/*.*/, /*:end*/
    1, /*:each measure*/ n./*:measure*/revenue/*.*/, /*:end*/ n.event_count,
    'seal', $2::bigint, $3::timestamptz, $3::timestamptz, $4::text
  from news as n
  where n.first_version is null
),
kept as (
  insert into /*:emission*/errata.daily_orders_emission/*.*/ (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/
    event_count, kind, received_at, run_id
  )
  select
    n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ /*:each measure*/ n./*:measure*/revenue/*.*/, /*:end*/
    n.event_count, case when n.first_version = 1 then 'later_emission' else 'late_seal' end, $3::timestamptz, null
  from news as n
  where n.first_version is not null
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select
  n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/
  case when n.first_version is null then 'seal' else 'stream_emission' end, $3::timestamptz
from news as n
where n.first_version is null or n.first_version = 1
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
