-- Partials: what is read of keyed windows of which a measure could not be computed is not read again, nor are they made whole
-- (R19).
--
-- Inputs: pg_temp.errata_failing. Several statements; rows out: none. Safe to repeat.
delete from pg_temp.errata_stretch as s
using pg_temp.errata_failing as f
where s.window_start = f.window_start
  and s.window_end = f.window_end
  /*:each key*/ and array[s./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/;

delete from pg_temp.errata_partial as p
using pg_temp.errata_failing as f
where p.window_start = f.window_start
  and p.window_end = f.window_end
  /*:each key*/ and array[p./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
