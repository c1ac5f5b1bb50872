-- The period that an adjustment is posted to: the first that is open, from the one that holds the stamp on (R12).
--
-- $1 rollup_id: integer
-- $2 stamp: of this run
--
-- Rows out: one, or none where no period of the calendar is open. Safe to repeat: it reads.
select p.period
from (values ($2::timestamptz)) as s (from_instant)
cross join lateral /*:periods_from*/(
  select to_char(m, 'YYYY-MM') as period, m at time zone 'UTC' as period_start, (m + interval '1 month') at time zone 'UTC' as period_end
  from generate_series(date_trunc('month', s.from_instant at time zone 'UTC'), s.from_instant at time zone 'UTC' + interval '10 years', '1 month') as m
)/*.*/ as p
where p.period_end > s.from_instant
  and not exists (
    select from /*:schema*/errata/*.*/.period_act as a
    where a.rollup_id = $1::integer
      and a.act <> 'reopen'
      and a.period_start <= p.period_start
      and a.period_end > p.period_start
      and not exists (
        select from /*:schema*/errata/*.*/.period_act as r
        where r.rollup_id = a.rollup_id
          and r.act = 'reopen'
          and r.act_id > a.act_id
          and r.period_start <= p.period_start
          and r.period_end > p.period_start
          and r.expires_at > $2::timestamptz
      )
  )
order by p.period_start
limit 1
