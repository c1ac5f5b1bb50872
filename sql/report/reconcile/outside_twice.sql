-- Reconcile: keyed windows that a table kept elsewhere has twice. Rows out: one each, at most three.
--
-- Safe to repeat: it reads.
select
  coalesce(c.local_date::text, c.window_start::text) as window_start,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  count(*)::text as rows
from pg_temp.errata_outside as c
group by c.window_start, c.window_end, c.local_date /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
having count(*) > 1
order by 1
limit 3
