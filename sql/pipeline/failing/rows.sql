-- Failing: the rows whose own contributions a statement was about to compute, each a group by itself.
--
-- Inputs: pg_temp.errata_candidate, pg_temp.errata_amended; bronze. Rows out: pg_temp.errata_counted.
-- Safe to repeat: writes work tables only.
create temp table errata_counted on commit drop as
select dense_rank() over (order by o.errata_row_digest) as errata_place, o.*
from (
  select distinct on (r.errata_row_digest) r.errata_row_digest /*:each column*/ , r./*:column*/amount/*.*/ /*:end*/
  from (
    select c.errata_row_digest /*:each column*/ , c./*:column*/amount/*.*/ /*:end*/
    from pg_temp.errata_candidate as c
    union all
    select s.errata_row_digest /*:each column*/ , s./*:column*/amount/*.*/ /*:end*/
    from pg_temp.errata_amended as a
    join /*:source*/errata.daily_orders_source/*.*/ () as s
      on s.errata_event_time >= a.window_start
      and s.errata_event_time < a.window_end
  ) as r
  order by r.errata_row_digest
) as o
