-- Recompute: which keyed windows leave rows out, or hold copies.
--
-- Inputs: pg_temp.errata_touched, errata_excluded and errata_copied, analysed. Rows out: none; the mark `has_left_out`.
-- Safe to repeat: writes work tables only.
update pg_temp.errata_touched as t
set has_left_out = true
where exists (
  select
  from (
    select n.target, n.window_start, n.window_end /*:each key*/ , n./*:key*/region/*.*/ /*:end*/
    from pg_temp.errata_excluded as n
    union all
    select c.target, c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
    from pg_temp.errata_copied as c
  ) as n
  where n.target = t.target
    and n.window_start = t.window_start
    and n.window_end = t.window_end
    /*:each key*/ and array[n./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
)
