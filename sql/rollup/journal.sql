-- Every correction as accounting systems book it: a reversal of the old value, a booking of the new one, and the
-- difference as one line. Rows out: three a correction; take `line` = 'delta' or the other two, never all three.
create or replace view /*:journal*/gold.daily_orders_journal/*.*/ as
select
  h.window_start,
  h.window_end,
  h.local_date,
  /*:each key*/ h./*:key*/region/*.*/, /*:end*/
  h.version,
  l.line,
  /*:each additive*/
  (case l.line
    when 'reversal' then -coalesce(h./*:previous_measure*/previous_revenue/*.*/, 0)
    when 'rebook' then coalesce(h./*:measure*/revenue/*.*/, 0)
    else h./*:delta_measure*/delta_revenue/*.*/
  end)::/*:measure_type*/numeric/*.*/ as /*:measure*/revenue/*.*/,
  /*:end*/
  h.causes,
  h.reason,
  h.actor,
  h.approver,
  h.run_id,
  h.corrected_at,
  h.posting_period
from /*:history*/gold.daily_orders_history/*.*/ as h
cross join (values (1, 'reversal'), (2, 'rebook'), (3, 'delta')) as l (place, line)
where h.kind <> 'seal'
