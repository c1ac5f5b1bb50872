-- Keyed windows, the latest first: what shipped, what is known now, and what is pending. Rows out: one a keyed window that has a
-- version, or a row that is pending, held or waived; at most $5.
--
-- $1 from_instant, $2 to_instant: of their start, half-open
-- $3 key: jsonb, an object of all key columns and their texts; null for any
-- $4 passed_over: integer; so many are passed over
-- $5 at_most: integer
--
-- The fold goes backwards through the ledger's index and ends once the rows are found. Safe to repeat: it reads.
with fold as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/)
    g.window_start,
    g.window_end,
    g.local_date,
    /*:each key*/ g./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ g./*:measure*/revenue/*.*/, /*:end*/
    g.version,
    g.is_void,
    g.causes,
    g.stamp
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start >= $1::timestamptz
    and g.window_start < $2::timestamptz
    and ($3::jsonb is null or jsonb_build_array(/*:version_key_texts*/g.region::text/*.*/) = $3::jsonb)
  order by g.window_start desc, g.window_end desc, /*:each key*/ g./*:key*/region/*.*/ desc, /*:end*/ g.version desc
  limit $4::integer + $5::integer
),
unpublished as (
  select
    e.window_start,
    e.window_end,
    e.local_date,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ null::/*:measure_type*/numeric/*.*/ as /*:measure*/revenue/*.*/, /*:end*/
    null::integer as version,
    null::boolean as is_void,
    null::text[] as causes,
    null::timestamptz as stamp
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.state in ('pending', 'held', 'waived')
    and e.window_start >= $1::timestamptz
    and e.window_start < $2::timestamptz
    and ($3::jsonb is null or jsonb_build_array(/*:event_key_texts*/e.region::text/*.*/) = $3::jsonb)
    and not exists (
      select from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = e.window_start
        and g.window_end = e.window_end
        /*:each key*/ and array[g./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
    )
  group by e.window_start, e.window_end, e.local_date /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
),
pending as (
  select
    e.window_start,
    e.window_end,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    count(*) as errata_rows,
    '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, sum(e./*:measure*/revenue/*.*/)::text) /*:end*/ as errata_measures
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.state = 'pending'
    and e.window_start >= $1::timestamptz
    and e.window_start < $2::timestamptz
  group by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
),
c as (
  select f.* from fold as f
  union all
  select u.* from unpublished as u
  order by window_start desc, window_end desc /*:each key*/ , /*:key*/region/*.*/ desc /*:end*/
  limit $5::integer
  offset $4::integer
),
-- of windows that have a corrected one among those that are shown
sealed as (
  select
    g.window_start,
    g.window_end,
    /*:each key*/ g./*:key*/region/*.*/, /*:end*/
    '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, g./*:measure*/revenue/*.*/::text) /*:end*/ as errata_measures
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.version = 1
    and g.window_start >= (select min(c.window_start) from c where c.version > 1)
    and g.window_start <= (select max(c.window_start) from c where c.version > 1)
)
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as key,
  c.version::text as version,
  case
    when c.version = 1 then '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/
    else s.errata_measures
  end as sealed,
  case when c.version is not null then '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ end as latest,
  c.is_void,
  c.causes,
  c.stamp::text as stamp,
  p.errata_rows::text as pending_rows,
  p.errata_measures as pending
from c
left join sealed as s
  on s.window_start = c.window_start
  and s.window_end = c.window_end
  /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join pending as p
  on p.window_start = c.window_start
  and p.window_end = c.window_end
  /*:each key*/ and array[p./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
order by c.window_start desc, c.window_end desc /*:each key*/ , c./*:key*/region/*.*/ desc /*:end*/
