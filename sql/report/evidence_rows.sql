-- Evidence: versions that are not as they were when their hash was kept, in the order of windows, keys and versions (R21).
--
-- $1 at_most: integer, so many are named
--
-- Rows out: one a version; `found` in each is their number. `run_id` is the run whose link covers it; NULL: none does.
-- Safe to repeat: it reads. Both sides are read once; what does not fit in work_mem goes to temporary files.
with published as (
  select h.*, row_number() over (partition by h.window_start, h.window_end, /*:each key*/ h./*:key*/region/*.*/, /*:end*/ h.version order by h.row_hash) as place
  from (
    select g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version, /*:row_hash*/sha256(convert_to(g::text, 'UTF8'))/*.*/ as row_hash
    from /*:ledger*/gold.daily_orders/*.*/ as g
  ) as h
),
hashed as (
  select h.*, row_number() over (partition by h.window_start, h.window_end, /*:each key*/ h./*:key*/region/*.*/, /*:end*/ h.version order by h.row_hash) as place
  from (
    select e.*
    from /*:evidence*/errata.daily_orders_evidence/*.*/ as e
    union all
    select null::bigint, u.*
    from /*:unchained*/errata.daily_orders_unchained/*.*/ as u
  ) as h
),
compared as (
  select
    coalesce(h.window_start, p.window_start) as window_start,
    coalesce(h.window_end, p.window_end) as window_end,
    /*:each key*/ case when h.row_hash is null then p./*:key*/region/*.*/ else h./*:key*/region/*.*/ end as /*:key*/region/*.*/, /*:end*/
    coalesce(h.version, p.version) as version,
    case when h.row_hash is null then 'added' when p.row_hash is null then 'missing' else 'altered' end as what,
    h.run_id
  from published as p
  full join hashed as h
    on h.window_start = p.window_start
    and h.window_end = p.window_end
    /*:each key*/ and array[h./*:key*/region/*.*/] = array[p./*:key*/region/*.*/] /*:end*/
    and h.version = p.version
    and h.place = p.place
  where h.row_hash is distinct from p.row_hash
    -- before the first link the whole ledger awaits it
    and (h.row_hash is not null or exists (select from /*:evidence*/errata.daily_orders_evidence/*.*/))
)
select
  c.what,
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  null::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.version,
  c.run_id::text as run_id,
  (count(*) over ())::text as found
from compared as c
order by c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.version, c.what
limit $1::integer
