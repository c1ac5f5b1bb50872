-- Open proposals about keyed windows that this run does not judge. Rows out: one.
--
-- $1 rollup_id: integer
--
-- Inputs: pg_temp.errata_change. Safe to repeat: it reads.
select count(*)::text as proposals
from /*:schema*/errata/*.*/.proposal as o
where o.rollup_id = $1::integer
  and o.state = 'open'
  and not exists (
    select from pg_temp.errata_change as c
    where c.window_start = o.window_start
      and c.window_end = o.window_end
      and jsonb_build_array(/*:key_texts*/c.region::text/*.*/) = o.key
      and c.verdict in ('change', 'emission', 'same', 'propose', 'held', 'rejected')
  )
