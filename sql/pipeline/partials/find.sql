-- Partials: those of the keyed windows that are made from them, each looked up by itself.
--
-- Inputs: pg_temp.errata_touched, pg_temp.errata_ingested. Rows out: into pg_temp.errata_partial. Safe to repeat: writes work
-- tables only.
insert into pg_temp.errata_partial
select t.target, p.*, false
from pg_temp.errata_touched as t
cross join lateral (
  select p.*
  from /*:partial*/errata.daily_orders_partial/*.*/ as p
  where p.window_start = t.window_start
    and p.window_end is not distinct from t.window_end
    /*:each key*/ and array[p./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
  offset 0
) as p
join pg_temp.errata_ingested as i on i.relation_id = p.relation_id
where t.is_parted
  and i.is_covered
