-- Reconcile: where the batch of windows that begins at an instant ends: a step later, at the start of a window. What no run
-- knows anything of is one batch, however long. Rows out: one, with the end of its last window and the share that is done.
--
-- $1 batch_from: where the batch begins
-- $2 step: interval; null: all at once
-- $3 known_from, $4 known_to: what runs know of
-- $5 swept_from, $6 swept_to: where the sweep begins and ends
-- $7 overlap: interval, how far the windows that start before an instant reach beyond it
--
-- Safe to repeat: it reads.
select
  c.cut::text as cut,
  (c.cut + $7::interval)::text as events_to,
  round(100 * extract(epoch from c.cut - $5::timestamptz) / extract(epoch from $6::timestamptz - $5::timestamptz))::integer as percent
from (
  select least(
    case
      when $4::timestamptz is null or $2::interval is null or $1::timestamptz > $4::timestamptz then $6::timestamptz
      when $1::timestamptz < $3::timestamptz then /*:starting_from*/errata.daily_orders_starting_from/*.*/ ($3::timestamptz)
      else /*:starting_from*/errata.daily_orders_starting_from/*.*/ ($1::timestamptz + $2::interval)
    end,
    $6::timestamptz
  ) as cut
) as c
