-- Failing: the keyed windows of the groups that fail (R19).
--
-- Inputs: pg_temp.errata_probed, pg_temp.errata_counted. Rows out: one a keyed window, into pg_temp.errata_failing.
-- Safe to repeat: writes work tables only.
insert into pg_temp.errata_failing (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ error)
select r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ min(p.error)
from pg_temp.errata_probed as p
join pg_temp.errata_counted as r on r.errata_place = p.place
group by r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
