-- Copies: which stretches of ingestion may hold a late id, and between which ids those of each lie.
--
-- $1 lowers, $2 uppers: text[], bounds of the ingestion partitions; empty where one has none
-- $3 event_ids_from, $4 event_ids_to: text[], their least and greatest id
-- $5 are_known: text[], `true` where these are known
-- $6 are_empty: text[], `true` for those without rows up to the bound
--
-- Inputs: pg_temp.errata_late_id. Rows out: one a stretch, into pg_temp.errata_id_span. Not safe to repeat.
--
-- Where ids grow with time nearly every ingestion partition is left out: 10,000 late ids in 50 of them were 500,000 look-ups.
-- Stretches do not overlap, or a row would be found twice: partitions that share a span of time are of the rest, which is looked into
-- whatever the id.
with place as materialized (
  select
    tstzrange(p.lower, p.upper) as stretch,
    coalesce(p.lower, p.upper) is not null as is_bounded,
    case when p.is_known then p.event_id_from end as event_id_from,
    case when p.is_known then p.event_id_to end as event_id_to,
    p.is_known,
    p.is_empty,
    p.place
  from (
    select
      nullif(u.lower, '')::timestamptz as lower,
      nullif(u.upper, '')::timestamptz as upper,
      u.event_id_from::/*:single_id_type*/text/*.*/ as event_id_from,
      u.event_id_to::/*:single_id_type*/text/*.*/ as event_id_to,
      u.is_known::boolean as is_known,
      u.is_empty::boolean as is_empty,
      u.place
    from (
      select
        u.lower,
        u.upper,
        case when u.is_known = 'true' then u.event_id_from end as event_id_from,
        case when u.is_known = 'true' then u.event_id_to end as event_id_to,
        u.is_known,
        u.is_empty,
        u.place
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) with ordinality
        as u (lower, upper, event_id_from, event_id_to, is_known, is_empty, place)
    ) as u
  ) as p
),
told as materialized (
  select p.*
  from place as p
  where p.is_bounded
    and (p.is_known or p.is_empty)
    and not exists (select from place as o where o.place <> p.place and o.is_bounded and o.stretch && p.stretch)
)
insert into pg_temp.errata_id_span (ingested_from, ingested_to, event_id_from, event_id_to)
select coalesce(lower(t.stretch), '-infinity'), coalesce(upper(t.stretch), 'infinity'), t.event_id_from, t.event_id_to
from told as t
where t.is_known
  and exists (
    select from pg_temp.errata_late_id as l
    where /*:late_single_id*/l.order_id/*.*/ between t.event_id_from and t.event_id_to
  )
union all
select coalesce(lower(r), '-infinity'), coalesce(upper(r), 'infinity'), null, null
from unnest(tstzmultirange(tstzrange(null, null)) - coalesce((select range_agg(t.stretch) from told as t), '{}')) as r
where (select count(*) from told) < (select count(*) from place)
