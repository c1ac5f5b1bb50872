-- Diff, where the stream seals: a keyed window that gets a correction and has no version 1 is claimed until this run
-- commits (R8, R11). A stream that inserts its version 1 meanwhile waits, and finds that it comes late.
--
-- $1 since: the bound of this run
--
-- Inputs: pg_temp.errata_change. Rows out: one a claim, in the queue, where the ledger's guard puts the same row for a
-- version 1; settle.sql takes it away again. Where the stream has one on its way this statement waits for it, and where it
-- has committed one since the snapshot it fails to serialize. Safe to repeat: the queue holds each once. It does not
-- read the ledger: beside 5 million versions 10,000 claims took 0.24 s (PostgreSQL 18, 2 cores under a load of 10).
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ 'seal', $1::timestamptz
from pg_temp.errata_change as c
where c.verdict in ('change', 'emission')
  and c.old_version = 0
on conflict do nothing
