-- Reconcile, sessions: which rows joined one is recorded, so those that bronze does not hold any more can be named, and
-- those that are recorded nowhere (R6s).
--
-- $1 events_from, $2 events_to: all event times of the sessions that do not add up, half-open
-- $3 bound: rows ingested later have not been examined
-- $4 knows_ages: boolean; transaction ages of rows can be compared with pg_temp.errata_read
-- $5 transaction: the 64-bit number to which age() counts back
--
-- Inputs: pg_temp.errata_compared. Rows out: one a row, into pg_temp.errata_finding. Safe to repeat: writes work tables only.
with bronze_row as materialized (
  select
    r.*,
    case
      when r.errata_relation is null or not $4::boolean then r.errata_ingested_at > $3::timestamptz
      when p.relation_id is null or p.horizon_age is null then true
      else (r.errata_row_age <= p.horizon_age and not (p.seen @> ($5::bigint - r.errata_row_age)))
        or r.errata_ingested_at > p.bound
    end as errata_is_new
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  left join pg_temp.errata_read as p on p.relation_id = r.errata_relation
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $2::timestamptz
    and r.errata_is_valid
),
gone as (
  insert into pg_temp.errata_finding (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail)
  select
    s.window_start, s.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/
    'counted but not in bronze', m.event_id, replace(m.row_digest::text, '-', ''), '{}'::jsonb
  from pg_temp.errata_compared as c
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
    on k.is_key
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  join /*:session*/errata.daily_orders_session/*.*/ as s
    on s.key_id = k.key_id
    and s.window_start = c.window_start
    and s.window_end = c.window_end
    and s.replaced_by is null
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = s.session_id
  join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
  where c.errata_why is null
    and (not c.errata_adds_up or c.errata_missing > 0)
    and not exists (
      select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
      where x.session_id = s.session_id and x.part_id = m.copy_since
    )
    and not exists (
      select from bronze_row as r
      where r.errata_event_id = m.event_id and r.errata_row_digest::uuid = m.row_digest
    )
    and not exists (
      select from pg_temp.errata_finding as f
      where f.window_start = s.window_start and f.window_end = s.window_end and f.event_id = m.event_id
    )
)
insert into pg_temp.errata_finding (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail, events /*:each additive*/ , /*:measure*/revenue/*.*/ /*:end*/
)
select
  r.errata_event_time, r.errata_event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/, /*:each key*/ r./*:key*/region/*.*/, /*:end*/
  'counted by neither', r.errata_event_id, r.errata_row_digest,
  jsonb_build_object('event_time', r.errata_event_time::text, 'ingested_at', r.errata_ingested_at::text),
  1 /*:each additive*/ , m./*:measure*/revenue/*.*/ /*:end*/
from bronze_row as r
join pg_temp.errata_compared as c
  on c.window_start = r.errata_event_time
  and c.window_end = r.errata_event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/
  /*:each key*/ and array[c./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
  and c.errata_why is null
  and not c.errata_adds_up
cross join lateral (
  select count(*) as errata_event_count /*:each additive*/ , /*:contribution*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/ /*:end*/
  from (select r.*) as one
) as m
where not r.errata_is_new
  and not exists (
    select from /*:session_row*/errata.daily_orders_session_row/*.*/ as j
    where j.event_id = r.errata_event_id and j.row_digest = r.errata_row_digest::uuid
  )
  and not exists (
    select from /*:copy*/errata.daily_orders_copy/*.*/ as j
    where j.event_id = r.errata_event_id and j.row_digest = r.errata_row_digest
  )
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.event_id = r.errata_event_id and e.row_digest = r.errata_row_digest
  )
