-- A period of the calendar by its name, with how it stands (R12). Rows out: one, or none where the calendar has none of
-- that name.
--
-- $1 rollup_id: integer
-- $2 period: text
-- $3 stamp: of this run
--
-- `unsealed`: why it cannot be closed yet, if anything. Safe to repeat: it reads.
select
  p.period,
  p.period_start::text as period_start,
  p.period_end::text as period_end,
  a.act,
  a.posting_role,
  a.acted_at::text as acted_at,
  case
    when r.sealed_until is null then 'no window is sealed yet'
    -- where keys have delays of their own, the slowest of them decides
    when w.last_end > u.sealed_until then format('its last window ends %s, and windows are sealed until %s', w.last_end::text, u.sealed_until::text)
    when exists (
      select from /*:touched*/errata.daily_orders_touched/*.*/ as q
      where q.cause = 'unsealed' and q.window_start >= p.period_start and q.window_start < p.period_end
    ) then 'version 1 of some of its keyed windows cannot be written: a measure cannot be computed'
  end as unsealed
from (values ($2::text)) as n (name)
cross join lateral /*:period_by_name*/(
  select n.name as period, (n.name || '-01')::timestamp at time zone 'UTC' as period_start, ((n.name || '-01')::timestamp + interval '1 month') at time zone 'UTC' as period_end
)/*.*/ as p
join /*:schema*/errata/*.*/.rollup as r on r.rollup_id = $1::integer
cross join lateral (
  select /*:open_from*/r.sealed_until/*.*/ as sealed_until
) as u
cross join lateral (
  -- the last window that starts in it; of sessions those that start in it by then
  select greatest(
    p.period_end,
    (select max(w.window_end) from /*:windows*/errata.daily_orders_windows/*.*/ (p.period_end - interval '1 microsecond') as w where w.window_start < p.period_end)
  ) as last_end
) as w
left join lateral (
  select c.act, c.posting_role, c.acted_at
  from /*:schema*/errata/*.*/.period_act as c
  where c.rollup_id = $1::integer
    and c.act <> 'reopen'
    and c.period_start <= p.period_start
    and c.period_end > p.period_start
    and not exists (
      select from /*:schema*/errata/*.*/.period_act as o
      where o.rollup_id = c.rollup_id
        and o.act = 'reopen'
        and o.act_id > c.act_id
        and o.period_start <= p.period_start
        and o.period_end > p.period_start
        and o.expires_at > $3::timestamptz
    )
  order by c.act_id desc
  limit 1
) as a on true
