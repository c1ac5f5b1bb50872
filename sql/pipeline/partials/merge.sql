-- Partials: the measures of a keyed window made whole, from its partials and from what was read of it.
--
-- Inputs: pg_temp.errata_partial, told which are left; pg_temp.errata_stretch_result. Rows out: one a keyed window that has
-- rows, into pg_temp.errata_result. Not safe to repeat.
insert into pg_temp.errata_result (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count)
select
  m.target, m.window_start, m.window_end, /*:each key*/ m./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ /*:merged_measure*/sum(m.revenue)::numeric/*.*/, /*:end*/ sum(m.event_count)::bigint
from (
  select p.target, p.window_start, p.window_end, /*:each key*/ p./*:key*/region/*.*/, /*:end*/ /*:each measure*/ p./*:measure*/revenue/*.*/, /*:end*/ p.event_count
  from pg_temp.errata_partial as p
  where not p.is_left
  union all
  select n.target, n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ /*:each measure*/ n./*:measure*/revenue/*.*/, /*:end*/ n.event_count
  from pg_temp.errata_stretch_result as n
) as m
group by m.target, m.window_start, m.window_end /*:each key*/ , m./*:key*/region/*.*/ /*:end*/
having sum(m.event_count) > 0
