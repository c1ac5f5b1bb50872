-- Evidence: links of the chain that do not follow from what they cover (R21).
--
-- $1 rollup_id: integer
-- $2 at_most: integer, so many are named
--
-- Rows out: one a run, in the order of runs: `record`: its own record is not what it hashed; `rows`: the hashes of its
-- versions are not; `previous`: it does not follow the link before; `no_link`: hashes name it, and it is no link.
-- Safe to repeat: it reads. Hashes are put together in blocks, as hash_versions.sql does.
with block as (
  select e.run_id, get_byte(e.row_hash, 0) as first_byte, count(*) as versions, sha256(string_agg(e.row_hash, ''::bytea order by e.row_hash)) as hash
  from /*:evidence*/errata.daily_orders_evidence/*.*/ as e
  group by e.run_id, get_byte(e.row_hash, 0)
),
covered as (
  select b.run_id, sum(b.versions) as versions, sha256(string_agg(b.hash, ''::bytea order by b.first_byte)) as rows_hash
  from block as b
  group by b.run_id
),
link as (
  select r.run_id, r.versions_hashed, r.rows_hash, r.previous_hash, r.hash, lag(r.hash) over (order by r.run_id) as hash_before,
    /*:link_hash*/sha256(convert_to(r::text, 'UTF8'))/*.*/ as hash_again
  from /*:schema*/errata/*.*/.run as r
  where r.rollup_id = $1::integer and r.hash is not null
),
judged as (
  select
    coalesce(l.run_id, c.run_id) as run_id,
    case
      when l.run_id is null then 'no_link'
      when l.hash <> l.hash_again then 'record'
      when l.rows_hash is distinct from c.rows_hash or l.versions_hashed <> c.versions then 'rows'
      when l.previous_hash is distinct from l.hash_before then 'previous'
    end as fault,
    coalesce(l.versions_hashed, 0) as versions_hashed,
    coalesce(c.versions, 0) as versions
  from link as l
  full join covered as c on c.run_id = l.run_id
)
select
  j.run_id::text as run_id,
  j.fault,
  j.versions_hashed::text as versions_hashed,
  j.versions::text as versions,
  (count(*) over ())::text as found
from judged as j
where j.fault is not null
order by j.run_id
limit $2::integer
