-- Recompute: of keyed windows that were read once for three sets, the results of the other two.
--
-- Inputs: pg_temp.errata_touched, pg_temp.errata_result. Rows out: two a keyed window that has rows. Not safe to repeat.
insert into pg_temp.errata_result (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select s.target, n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ /*:each measure*/ n./*:measure*/revenue/*.*/, /*:end*/ n.event_count
from pg_temp.errata_touched as t
join pg_temp.errata_result as n
  on n.target = 'counted'
  and n.window_start = t.window_start
  and n.window_end = t.window_end
  /*:each key*/ and array[n./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
cross join (values ('open'), ('all')) as s (target)
where t.target = 'counted' and t.is_whole
