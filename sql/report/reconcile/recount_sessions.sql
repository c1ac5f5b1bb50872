-- Reconcile: the sessions of a batch counted anew from bronze: the rows that joined them, whatever their state, and the
-- refused ones that await a person in the session that they make by themselves (R6s, R14). A row that no run has recorded
-- anywhere makes its own session too: it has not been examined yet, or nobody counts it.
--
-- $1 window_from, $2 window_to: where the sessions start, half-open
-- $3 ingested_from: no row of them was ingested earlier; null where that cannot be known
-- $4 bound: rows ingested later have not been examined
-- $5 knows_ages: boolean; transaction ages of rows can be compared with pg_temp.errata_read
-- $6 transaction: the 64-bit number to which age() counts back
-- $7 is_every_row: boolean; every row is an event of its own
--
-- Rows out: into pg_temp.errata_recounted. Safe to repeat for another batch: writes work tables only.
with member as (
  select s.window_start, s.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/ m.event_id, m.row_digest
  from /*:session*/errata.daily_orders_session/*.*/ as s
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = s.key_id
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = s.session_id
  join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
  where s.window_start >= $1::timestamptz
    and s.window_start < $2::timestamptz
    and s.replaced_by is null
    and not exists (
      select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
      where x.session_id = s.session_id and x.part_id = m.copy_since
    )
  union
  select e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.event_id, e.row_digest::uuid
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start >= $1::timestamptz
    and e.window_start < $2::timestamptz
    and e.state is not null
    and e.gone_run_id is null
),
reach as (
  select max(m.window_end) as events_to
  from member as m
),
bronze_row as materialized (
  select
    r.*,
    case
      when r.errata_relation is null or not $5::boolean then r.errata_ingested_at > $4::timestamptz
      when p.relation_id is null or p.horizon_age is null then true
      else (r.errata_row_age <= p.horizon_age and not (p.seen @> ($6::bigint - r.errata_row_age)))
        or r.errata_ingested_at > p.bound
    end as errata_is_new
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  left join pg_temp.errata_read as p on p.relation_id = r.errata_relation
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < greatest((select c.events_to from reach as c), $2::timestamptz)
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_is_valid
),
joined as (
  select
    m.window_start as errata_window_start,
    m.window_end as errata_window_end,
    r.*,
    row_number() over (partition by m.window_start, m.window_end, /*:each key*/ m./*:key*/region/*.*/, /*:end*/ m.event_id, m.row_digest) as errata_place
  from member as m
  join bronze_row as r
    on r.errata_event_id = m.event_id
    and r.errata_row_digest::uuid = m.row_digest
    /*:each key*/ and array[r./*:key*/region/*.*/] = array[m./*:key*/region/*.*/] /*:end*/
),
-- One that no run has examined yet may be a changed row of the session that it lies in.
unknown as (
  select
    coalesce(s.window_start, r.errata_event_time) as errata_window_start,
    coalesce(s.window_end, r.errata_event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/) as errata_window_end,
    r.*,
    1::bigint as errata_place
  from bronze_row as r
  left join lateral (
    select s.window_start, s.window_end
    from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    join /*:session*/errata.daily_orders_session/*.*/ as s on s.key_id = k.key_id and s.replaced_by is null
    where r.errata_is_new
      /*:each key*/ and array[k./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
      and s.window_start >= $1::timestamptz
      and s.window_start <= r.errata_event_time
      and s.window_end > r.errata_event_time
    order by s.window_start desc
    limit 1
  ) as s on true
  where r.errata_event_time < $2::timestamptz
    and not exists (
      select from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
      where m.event_id = r.errata_event_id and m.row_digest = r.errata_row_digest::uuid
    )
    and not exists (
      select from /*:copy*/errata.daily_orders_copy/*.*/ as c
      where c.event_id = r.errata_event_id and c.row_digest = r.errata_row_digest
    )
    and not exists (
      select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
      where e.event_id = r.errata_event_id and e.row_digest = r.errata_row_digest
    )
),
first_copy as (
  select j.*, false as errata_is_unknown
  from joined as j
  where j.errata_place = 1 or $7::boolean
  union all
  select u.*, true
  from unknown as u
),
named_row as (
  select f.*, e.event_id is not null as errata_is_named
  from first_copy as f
  left join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = f.errata_window_start
    and e.window_end = f.errata_window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
    and e.event_id = f.errata_event_id
    and e.row_digest = f.errata_row_digest
    and e.state is not null
    and e.gone_run_id is null
    and e.window_start >= $1::timestamptz
    and e.window_start < $2::timestamptz
  -- of which a measure is known to fail (R19)
  where not exists (
    select from /*:touched*/errata.daily_orders_touched/*.*/ as q
    where q.window_start = f.errata_window_start
      and q.window_end = f.errata_window_end
      /*:each key*/ and array[q./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
      and q.error is not null
  )
)
insert into pg_temp.errata_recounted (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ is_examined, /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ events, named
)
select
  r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ not (r.errata_is_unknown and r.errata_is_new),
  /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*), count(*) filter (where r.errata_is_named)
from named_row as r
group by
  r.errata_window_start, r.errata_window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ r.errata_is_unknown and r.errata_is_new
