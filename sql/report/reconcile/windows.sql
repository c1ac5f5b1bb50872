-- Reconcile: the keyed windows that are not identical, unexplained ones first. Rows out: one each, at most $1.
--
-- $1 at_most: integer
--
-- Safe to repeat: it reads.
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.version,
  c.errata_status as status,
  c.errata_explained_by as explained_by,
  c.errata_unexplained as unexplained,
  c.errata_why as why,
  c.errata_unexplained_events::text as unexplained_events,
  c.errata_unexamined_events::text as not_examined_events,
  c.errata_figures as measures,
  c.errata_outside as outside
from pg_temp.errata_compared as c
where c.errata_status <> 'identical' or c.errata_outside is not null
order by c.errata_status = 'unexplained' desc, c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
limit $1::integer
