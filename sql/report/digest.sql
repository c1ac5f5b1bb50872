-- Digest: the links of a rollup's chain, the head first, and what no link covers yet (R21).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint, the link of this run; null: the head
--
-- Rows out: one, or none where there is no such link. `links` and `versions` are counted up to this link.
-- Safe to repeat: it reads.
select
  r.run_id::text as run_id,
  to_json(r.stamp at time zone 'UTC') #>> '{}' || 'Z' as stamp,
  encode(r.hash, 'hex') as head,
  count(p.run_id)::text as links,
  sum(p.versions_hashed)::text as versions
from /*:schema*/errata/*.*/.run as r
join /*:schema*/errata/*.*/.run as p on p.rollup_id = r.rollup_id and p.hash is not null and p.run_id <= r.run_id
where r.run_id = (
  select n.run_id
  from /*:schema*/errata/*.*/.run as n
  where n.rollup_id = $1::integer and n.hash is not null and (n.run_id = $2::bigint or $2::bigint is null)
  order by n.run_id desc
  limit 1
)
group by r.run_id
