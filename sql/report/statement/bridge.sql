-- Statement, bridge: the steps from sealed to latest to restated to true, with the level that each arrives at (R14).
--
-- Inputs: the view of totals. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_bridge as
select
  t.measure,
  s.place,
  s.step,
  s.is_level,
  s.amount,
  case
    when s.is_level then s.amount
    else t.sealed + sum(s.amount) filter (where not s.is_level) over (partition by t.measure order by s.place)
  end as level
from pg_temp.errata_stated_totals as t
cross join lateral (
  values
    (1, 'sealed', true, t.sealed),
    (2, 'late_firing', false, t.late_firing),
    (3, 'straggler', false, t.straggler),
    (4, 'refused', false, t.refused),
    (5, 'quarantine_release', false, t.quarantine_release),
    (6, 'seal_mismatch', false, t.seal_mismatch),
    (7, 'stream_emission', false, t.stream_emission),
    (8, 'source_change', false, t.source_change),
    (9, 'other', false, t.other),
    (10, 'latest', true, t.latest),
    (11, 'pending', false, t.pending),
    (12, 'held', false, t.held),
    (13, 'waived', false, t.waived),
    (14, 'restated', true, t.restated),
    (15, 'unexplained', false, coalesce(t.unexplained, 0)),
    (16, 'true', true, t."true")
) as s (place, step, is_level, amount)
