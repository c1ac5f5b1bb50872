-- Watermark: the windows that this run seals of each key with a delay of its own, whose watermark is ahead of the rollup's
-- by the difference or behind it (R8); and, with those of all other keys, the spans in which windows to seal start.
--
-- $1 rollup_id: integer
-- $2 bound: bound of this run
-- $3 after: interval, how much more of ingested_at to wait for the stream's version 1
-- $4 sealed_until: the watermark that seals now, of all other keys
-- $5 complete_from: bronze is complete from here on
-- $6 delay: interval, of all other keys
-- $7 is_fixed: boolean; the strategy is fixed_delay
-- $8 sealing_from, $9 sealing_to: the windows of all other keys that this run seals
-- $10 overlap, $11 skew: as in sealing.sql
--
-- No keyed window is sealed twice or left out when a delay changes: each key goes on from where it was sealed, and never
-- back. Rows out: one, the spans as a whole, as in sealing.sql. Side effect: pg_temp.errata_override and
-- pg_temp.errata_sealing_span. Safe to repeat: writes work tables only.
with reached as (
  -- what the watermark would be without any delay
  select case
    when $7::boolean then $2::timestamptz - $3::interval
    else (
      select s.watermark + coalesce(s.delay, $6::interval)
      from /*:schema*/errata/*.*/.watermark_step as s
      where s.rollup_id = $1::integer and s.at < $2::timestamptz - $3::interval
      order by s.at desc
      limit 1
    )
  end as instant
),
target as (
  select
    /*:each override_by*/ v./*:by*/region/*.*/, /*:end*/
    coalesce(r.instant - v.errata_delay, $4::timestamptz) as sealed_until,
    coalesce(
      make_interval(secs => extract(epoch from r.instant - v.errata_delay - $4::timestamptz)::double precision),
      interval '0'
    ) as shift,
    greatest(
      coalesce(/*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (v.errata_sealed_before), '-infinity'),
      case
        when isfinite($5::timestamptz) then /*:starting_from*/errata.daily_orders_starting_from/*.*/ ($5::timestamptz)
        else $5::timestamptz
      end
    ) as start
  from pg_temp.errata_override as v
  cross join reached as r
),
keyed as (
  update pg_temp.errata_override as v
  set
    errata_sealed_floor = case when v.errata_shift = t.shift then v.errata_sealed_floor else v.errata_sealed_before end,
    errata_shift = t.shift,
    errata_sealed_until = greatest(v.errata_sealed_before, t.sealed_until),
    errata_sealing_from = t.start,
    errata_sealing_to = greatest(
      /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (greatest(v.errata_sealed_before, t.sealed_until)),
      t.start
    )
  from target as t
  where true /*:each override_by*/ and array[v./*:by*/region/*.*/] = array[t./*:by*/region/*.*/] /*:end*/
  returning v.errata_sealing_from, v.errata_sealing_to
),
span as (
  select lower(s.starts) as sealing_from, upper(s.starts) as sealing_to
  from (
    select unnest(range_agg(tstzrange(k.errata_sealing_from, k.errata_sealing_to))) as starts
    from (
      select k.errata_sealing_from, k.errata_sealing_to from keyed as k
      union all
      select $8::timestamptz, $9::timestamptz
    ) as k
  ) as s
),
noted as (
  insert into pg_temp.errata_sealing_span (sealing_from, sealing_to, events_to, others_from, others_to)
  select s.sealing_from, s.sealing_to, s.sealing_to + $10::interval, $8::timestamptz, $9::timestamptz
  from span as s
)
select
  $4::timestamptz as until,
  coalesce(min(s.sealing_from), $8::timestamptz) as "from",
  coalesce(max(s.sealing_to), $8::timestamptz) as "to",
  coalesce(max(s.sealing_to), $8::timestamptz) + $10::interval as events_to,
  coalesce(min(s.sealing_from), $8::timestamptz) - $11::interval as ingested_from,
  (
    select string_agg(p.relation, ', ' order by p.relation)
    from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $1::integer
      and p.gone_at is not null
      and exists (
        select from span as g
        where p.event_time_to >= g.sealing_from and p.event_time_from < g.sealing_to + $10::interval
      )
  ) as gone
from span as s
