-- What the control tables say of such a ledger: sealed and settled up to its end, and every month closed but the last two.
--
-- $1 from, $2 until: timestamptz, of all windows
with settled as (
  update errata.rollup
  set sealed_until = $2::timestamptz, settled_until = $2::timestamptz + interval '7 days', last_stamp = $2::timestamptz + interval '7 days',
    frontier = $2::timestamptz + interval '7 days'
  returning rollup_id
)
insert into errata.period_act (rollup_id, period, period_start, period_end, act, actor, acted_at)
select s.rollup_id, to_char(m, 'YYYY-MM'), m, m + interval '1 month', 'hard_close', 'bench', m + interval '1 month 5 days'
from settled as s
cross join generate_series(date_trunc('month', $1::timestamptz), $2::timestamptz - interval '3 months', interval '1 month') as m
