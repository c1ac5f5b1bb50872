-- Amend: which of the windows that this run takes had bronze rows deleted or changed, and are all there otherwise. Where
-- an ingestion partition that may have held rows of a window is gone, nothing of the window is judged anew (R15).
--
-- $1 rollup_id: integer
-- $2 deletes_are_retention: boolean; then nothing is judged by the rows that are left
--
-- Rows out: one a keyed window, into pg_temp.errata_amended. Safe to repeat: writes work tables only.
insert into pg_temp.errata_amended (window_start, window_end /*:each key*/ , /*:key*/region/*.*/ /*:end*/)
select t.window_start, t.window_end /*:each key*/ , t./*:key*/region/*.*/ /*:end*/
from pg_temp.errata_touched as t
where t.target = 'counted'
  and 'source_change' = any (t.causes)
  and not $2::boolean
  and not exists (
    select from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $1::integer
      and p.gone_at is not null
      and p.event_time_from < t.window_end
      and p.event_time_to >= t.window_start
  )
