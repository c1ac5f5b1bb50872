-- Partials: which of those stretches are looked up in an index of bronze, and which are read with all others of the same
-- ingestion. Where that is known to cost less: beside 1 for a row that is read in sequence, 20 to look into a partition, and 3
-- for a row found there, as in recompute/look_up.sql.
--
-- Inputs: pg_temp.errata_stretch, pg_temp.errata_ingested. Rows out: none; the mark `is_looked_up`. Safe to repeat.
with looking as (
  select s.ingested_from, s.ingested_to, sum(20 + 3 * s.expected) as cost
  from pg_temp.errata_stretch as s
  where s.expected is not null
  group by s.ingested_from, s.ingested_to
),
cheaper as (
  select l.ingested_from, l.ingested_to
  from looking as l
  join pg_temp.errata_ingested as i
    on i.ingested_from < l.ingested_to
    and i.ingested_to > l.ingested_from
  join pg_catalog.pg_class as c on c.oid = i.relation_id
  group by l.ingested_from, l.ingested_to, l.cost
  having l.cost < sum(
    pg_relation_size(c.oid)::float8 / current_setting('block_size')::float8
      * case when c.reltuples > 0 and c.relpages > 0 then c.reltuples / c.relpages else 80 end
  )
)
update pg_temp.errata_stretch as s
set is_looked_up = true
from cheaper as c
where s.expected is not null
  and s.ingested_from = c.ingested_from
  and s.ingested_to = c.ingested_to
