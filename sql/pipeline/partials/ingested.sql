-- Partials: which ingestion partitions are closed, and of which of those the partials that are kept hold still.
--
-- $1 relations: text[], oids of the ingestion partitions
-- $2 lowers, $3 uppers: text[], their bounds of ingested_at; empty where a partition has none
-- $4 contents: text[], their counters, size and file
-- $5 relations_read: text[], oids of those that this run's scan has read: something may be new in them
-- $6 empties: text[], oids of those without rows
-- $7 bound: bound of this run
--
-- A partition without bounds of its own, such as a default one, may hold rows of any ingestion: where it holds any, none is
-- closed. Rows out: one a closed partition that is to be kept. Side effect: pg_temp.errata_ingested. Not safe to repeat.
with place as materialized (
  select
    p.relation_id,
    nullif(p.lower, '')::timestamptz as lower,
    nullif(p.upper, '')::timestamptz as upper,
    p.content,
    p.relation_id = any ($5::text[]::oid[]) as is_read,
    p.relation_id = any ($6::text[]::oid[]) as is_empty
  from unnest($1::text[]::oid[], $2::text[], $3::text[], $4::text[]) as p (relation_id, lower, upper, content)
),
closed as (
  select
    p.*,
    p.upper is not null
      and p.upper <= $7::timestamptz
      and not exists (
        select from place as o
        where o.relation_id <> p.relation_id
          and case
            when o.lower is null and o.upper is null then not o.is_empty
            else tstzrange(o.lower, o.upper) && tstzrange(p.lower, p.upper)
          end
      ) as is_closed
  from place as p
),
judged as (
  insert into pg_temp.errata_ingested (relation_id, ingested_from, ingested_to, is_closed, is_covered, is_failed)
  select
    c.relation_id,
    coalesce(c.lower, '-infinity'),
    coalesce(c.upper, 'infinity'),
    c.is_closed,
    c.is_closed and not c.is_read and coalesce(k.content = c.content and not k.is_failed, false),
    c.is_closed and not c.is_read and coalesce(k.content = c.content and k.is_failed, false)
  from closed as c
  left join /*:partial_partition*/errata.daily_orders_partial_partition/*.*/ as k on k.relation_id = c.relation_id
  returning *
)
select j.relation_id::text as relation_id
from judged as j
where j.is_closed and not j.is_covered and not j.is_failed
order by j.ingested_from
