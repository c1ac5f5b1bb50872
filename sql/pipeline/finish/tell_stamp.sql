-- Finish: tells every transaction, at once and whatever its snapshot, that the next stamp lies behind this one. Before it is
-- asked which inserts of a stream are under way: one that begins later is told (R11).
--
-- $1 stamp: instant of publication
--
-- Rows out: none that matter. A run that is undone after it leaves the next stamp where it is, which harms nothing. Safe to
-- repeat.
select setval(
  /*:last_stamp_name*/'errata.daily_orders_last_stamp'/*.*/::regclass,
  greatest(s.last_value, (extract(epoch from $1::timestamptz) * 1000000)::bigint)
)
from /*:last_stamp*/errata.daily_orders_last_stamp/*.*/ as s
