-- Reconcile: which of its versions, or bronze, a table kept elsewhere has of each keyed window; and what either side lacks.
--
-- $1 swept_from, $2 swept_to: windows that start here, half-open
-- $3 zone: the time zone in which a local date without a keyed window begins
-- $4 key: jsonb, an object of key columns and their texts; null for all
--
-- Inputs: pg_temp.errata_outside; pg_temp.errata_compared, judged. Absent and void count as 0. Rows out: into
-- pg_temp.errata_compared: what differs from the latest version gets `errata_outside`; a keyed window that only the other
-- side has, a row with the status `outside`. Safe to repeat: writes work tables only.
with paired as (
  select
    c.ctid as place,
    o.window_start is not null or o.local_date is not null as is_outside,
    c.ctid is not null as is_ours,
    coalesce(c.window_start, o.window_start, o.local_date::timestamp at time zone $3::text) as window_start,
    coalesce(c.window_end, o.window_end) as window_end,
    coalesce(c.local_date, o.local_date) as local_date,
    /*:each key*/ coalesce(c./*:key*/region/*.*/, o./*:key*/region/*.*/) as /*:key*/region/*.*/, /*:end*/
    c.version,
    /*:each outside_measure*/
    o./*:measure*/revenue/*.*/,
    c./*:errata_bronze_measure*/errata_bronze_revenue/*.*/,
    /*:end*/
    c.errata_why
  from (select c.ctid, c.* from pg_temp.errata_compared as c) as c
  full join pg_temp.errata_outside as o
    on /*:outside_is_same*/c.window_start = o.window_start/*.*/
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[o./*:key*/region/*.*/] /*:end*/
),
asked as (
  select c.*
  from paired as c
  where c.window_start >= $1::timestamptz
    and c.window_start < $2::timestamptz
    and ($4::jsonb is null or jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) @> $4::jsonb)
),
version as (
  select
    a.place,
    g.version,
    g.stamp,
    lead(g.stamp) over (partition by a.place order by g.version) as until,
    lead(g.version) over (partition by a.place order by g.version) is null as is_latest,
    g.is_void
    /*:each outside_measure*/
    , g./*:measure*/revenue/*.*/,
    /*:same_as_version*/coalesce(a.revenue, 0) = coalesce(g.revenue, 0)/*.*/ as /*:share_of_measure*/share_of_revenue/*.*/
    /*:end*/
  from asked as a
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start = a.window_start
    and g.window_end = a.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  where a.is_ours
),
said as (
  select
    v.place,
    jsonb_agg(jsonb_build_object('version', v.version, 'from', v.stamp::text, 'until', v.until::text) order by v.version)
      filter (where true /*:each outside_measure*/ and v./*:share_of_measure*/share_of_revenue/*.*/ /*:end*/) as versions,
    coalesce(bool_or(v.version = 1 /*:each outside_measure*/ and v./*:share_of_measure*/share_of_revenue/*.*/ /*:end*/), false) as is_sealed,
    coalesce(bool_or(v.is_latest /*:each outside_measure*/ and v./*:share_of_measure*/share_of_revenue/*.*/ /*:end*/), false) as is_latest,
    bool_or(v.is_latest and v.is_void) as is_void
    /*:each outside_measure*/
    , (array_agg(v./*:measure*/revenue/*.*/::text) filter (where v.version = 1))[1] as /*:sealed_measure*/sealed_revenue/*.*/,
    (array_agg(v./*:measure*/revenue/*.*/::text) filter (where v.is_latest))[1] as /*:latest_measure*/latest_revenue/*.*/
    /*:end*/
  from version as v
  group by v.place
),
judged as (
  select
    a.*,
    coalesce(s.is_latest, false) as is_latest,
    coalesce(s.is_void, a.version = 0, true) as is_nothing,
    case
      when not a.is_outside or not a.is_ours then '{}'
      else array_remove(
        array[
          case when s.is_sealed then 'sealed' end,
          case when s.versions is not null and not s.is_sealed and not s.is_latest then 'version' end,
          case when s.is_latest then 'latest' end,
          case when a.errata_why is null /*:each outside_measure*/ and /*:same_as_bronze*/coalesce(a.revenue, 0) = coalesce(a.errata_bronze_revenue, 0)/*.*/ /*:end*/ then 'bronze' end
        ],
        null
      )
    end as equals,
    jsonb_build_object(
      'side', case when not a.is_outside then 'ours' when not a.is_ours then 'outside' else 'both' end,
      'versions', coalesce(s.versions, '[]'),
      'measures', '{}'::jsonb
        /*:each outside_measure*/
        || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_object(
          'outside', a./*:measure*/revenue/*.*/::text,
          'sealed', s./*:sealed_measure*/sealed_revenue/*.*/,
          'latest', s./*:latest_measure*/latest_revenue/*.*/,
          'bronze', a./*:errata_bronze_measure*/errata_bronze_revenue/*.*/::text
        ))
        /*:end*/
    ) as outside
  from asked as a
  left join said as s on s.place = a.place
),
told as (
  update pg_temp.errata_compared as c
  set errata_outside = j.outside || jsonb_build_object('equals', j.equals)
  from judged as j
  where j.is_ours
    and c.ctid = j.place
    and not j.is_latest
    -- nothing is published of it, and the other side has nothing
    and not (not j.is_outside and j.is_nothing)
)
insert into pg_temp.errata_compared (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ errata_explained_by, errata_unexplained, errata_status, errata_outside
)
select
  j.window_start, j.window_end, j.local_date, /*:each key*/ j./*:key*/region/*.*/, /*:end*/ '{}', '{}', 'outside',
  j.outside || jsonb_build_object('equals', j.equals)
from judged as j
where not j.is_ours
