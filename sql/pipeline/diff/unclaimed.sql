-- Diff, where the stream seals: keyed windows without a version 1 wait for the next run, since the stream is about to
-- write some of them (R8).
--
-- Inputs: pg_temp.errata_change. Rows out: one a keyed window. Safe to repeat: writes work tables only.
update pg_temp.errata_change as c
set verdict = 'wait', why = 'the stream is writing a version 1 that it has not committed'
where c.verdict in ('change', 'emission')
  and c.old_version = 0
