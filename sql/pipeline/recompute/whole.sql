-- Recompute: where a keyed window is asked for three times and no set leaves anything out, the three are one, and it is read once.
--
-- Inputs: pg_temp.errata_touched, told what is left out. Rows out: none; its rows `open` and `all` are taken away, and the mark
-- `is_whole` stands for them until whole_results.sql. Safe to repeat: writes work tables only.
with whole as (
  select t.window_start, t.window_end /*:each key*/ , t./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_touched as t
  group by t.window_start, t.window_end /*:each key*/ , t./*:key*/region/*.*/ /*:end*/
  having count(*) filter (where t.target in ('counted', 'open', 'all') and t.has_left_out is not true) = 3
),
gone as (
  delete from pg_temp.errata_touched as t
  using whole as w
  where t.target in ('open', 'all')
    and t.window_start = w.window_start
    and t.window_end = w.window_end
    /*:each key*/ and array[t./*:key*/region/*.*/] = array[w./*:key*/region/*.*/] /*:end*/
)
update pg_temp.errata_touched as t
set is_whole = true
from whole as w
where t.target = 'counted'
  and t.window_start = w.window_start
  and t.window_end = w.window_end
  /*:each key*/ and array[t./*:key*/region/*.*/] = array[w./*:key*/region/*.*/] /*:end*/
