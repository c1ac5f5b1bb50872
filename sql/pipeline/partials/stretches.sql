-- Partials: what of those keyed windows is read from bronze all the same: what landed in partitions that are not covered, and
-- in those where something is left out of the window, or is another copy than when the partial was kept (R5, R7).
--
-- Inputs: pg_temp.errata_touched, errata_partial, errata_excluded and errata_copied, analysed; errata_ingested. Rows out: one a
-- keyed window and stretch of ingestion, into pg_temp.errata_stretch; the mark `is_left` of the partials in its place.
-- Safe to repeat: writes work tables only.
with uncovered as materialized (
  select coalesce(lower(r), '-infinity') as ingested_from, coalesce(upper(r), 'infinity') as ingested_to
  from unnest((
    select range_agg(tstzrange(nullif(i.ingested_from, '-infinity'), nullif(i.ingested_to, 'infinity')))
    from pg_temp.errata_ingested as i
    where not i.is_covered
  )) as r
),
left_out as materialized (
  select n.target, n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ n.ingested_at, 0 as copies, true as is_excluded
  from pg_temp.errata_excluded as n
  union all
  select c.target, c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.ingested_at, c.copies, false
  from pg_temp.errata_copied as c
),
-- A join and no question of each row: 432,000 keyed windows beside 108,000 late events were not done after 11 minutes.
left_in_stretch as materialized (
  select distinct o.target, o.window_start, o.window_end, /*:each key*/ o./*:key*/region/*.*/, /*:end*/ u.ingested_from
  from left_out as o
  join uncovered as u
    on o.ingested_at >= u.ingested_from
    and o.ingested_at < u.ingested_to
),
left_in as materialized (
  select
    o.target, o.window_start, o.window_end, /*:each key*/ o./*:key*/region/*.*/, /*:end*/
    i.relation_id, i.ingested_from, i.ingested_to, sum(o.copies) as copies, bool_or(o.is_excluded) as is_excluded
  from left_out as o
  join pg_temp.errata_ingested as i
    on o.ingested_at >= i.ingested_from
    and o.ingested_at < i.ingested_to
  where i.is_covered
  group by o.target, o.window_start, o.window_end, /*:each key*/ o./*:key*/region/*.*/, /*:end*/ i.relation_id, i.ingested_from, i.ingested_to
),
differing as materialized (
  select
    coalesce(l.target, p.target) as target,
    coalesce(l.window_start, p.window_start) as window_start,
    coalesce(l.window_end, p.window_end) as window_end,
    /*:each key*/ coalesce(l./*:key*/region/*.*/, p./*:key*/region/*.*/) as /*:key*/region/*.*/, /*:end*/
    coalesce(l.relation_id, p.relation_id) as relation_id,
    coalesce(p.event_count + p.copies, 1) as expected
  from left_in as l
  full join pg_temp.errata_partial as p
    on p.target = l.target
    and p.window_start = l.window_start
    and p.window_end = l.window_end
    /*:each key*/ and array[p./*:key*/region/*.*/] = array[l./*:key*/region/*.*/] /*:end*/
    and p.relation_id = l.relation_id
  where l.is_excluded
    or coalesce(l.copies, 0) <> coalesce(p.copies, 0)
),
left_partial as (
  update pg_temp.errata_partial as p
  set is_left = true
  from differing as d
  where p.target = d.target
    and p.relation_id = d.relation_id
    and p.window_start = d.window_start
    and p.window_end = d.window_end
    /*:each key*/ and array[p./*:key*/region/*.*/] = array[d./*:key*/region/*.*/] /*:end*/
)
insert into pg_temp.errata_stretch (
  target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ has_null_key, has_left_out, is_looked_up, is_parted, ingested_from, ingested_to, expected
)
select
  t.target, t.window_start, t.window_end, /*:each key*/ t./*:key*/region/*.*/, /*:end*/ false,
  o.target is not null,
  false, false, u.ingested_from, u.ingested_to,
  -- of a window that was over before it began a stretch has late rows alone
  case when t.window_end <= u.ingested_from then 1 end
from pg_temp.errata_touched as t
cross join uncovered as u
left join left_in_stretch as o
  on o.target = t.target
  and o.window_start = t.window_start
  and o.window_end = t.window_end
  /*:each key*/ and array[o./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
  and o.ingested_from = u.ingested_from
where t.is_parted
union all
select
  t.target, t.window_start, t.window_end, /*:each key*/ t./*:key*/region/*.*/, /*:end*/ false, true,
  false, false, i.ingested_from, i.ingested_to, d.expected
from differing as d
join pg_temp.errata_touched as t
  on t.is_parted
  and t.target = d.target
  and t.window_start = d.window_start
  and t.window_end = d.window_end
  /*:each key*/ and array[t./*:key*/region/*.*/] = array[d./*:key*/region/*.*/] /*:end*/
join pg_temp.errata_ingested as i on i.relation_id = d.relation_id
