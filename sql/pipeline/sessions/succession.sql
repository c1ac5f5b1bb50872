-- Diff, sessions: which session has the rows of which now. What it would publish and the void versions of those that it
-- replaced go together (R6s, R10).
--
-- Inputs: pg_temp.errata_change. Rows out: one a session that was replaced, of each whose rows one of the changes is about,
-- into pg_temp.errata_succession; `is_shipping`: all its rows ship in a version 1, now or when it is sealed. Safe to repeat:
-- writes work tables only.
insert into pg_temp.errata_succession (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ old_start, old_end, is_shipping)
select distinct
  n.window_start, n.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ o.window_start, o.window_end,
  n.is_seal_due or exists (
    select from /*:ledger*/gold.daily_orders/*.*/ as g
    where g.window_start = n.window_start
      and g.window_end = n.window_end
      /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and g.version = 1
  )
from pg_temp.errata_change as c
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  on k.is_key
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
join /*:session*/errata.daily_orders_session/*.*/ as m
  on m.key_id = k.key_id
  and m.window_start = c.window_start
  and m.window_end = c.window_end
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = m.session_id
join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
join /*:session_part*/errata.daily_orders_session_part/*.*/ as q on q.session_id = n.session_id
join /*:session*/errata.daily_orders_session/*.*/ as o on o.session_id = q.part_id
where n.replaced_by is null
  and o.session_id <> n.session_id
