-- Reconcile, sessions: the same event id in another session (R5, R6s), by the rows that are recorded as joined and the refused
-- ones that await a person. Where several rows of one id are counted, each of their sessions is named `counted by both`.
--
-- $1 sealed_until: the watermark that seals
-- $2 session_from, $3 session_to: where sessions start whose ids are compared, half-open; null: all
--
-- Inputs: pg_temp.errata_compared: only its keyed windows are named. Rows out: one a row and session, into
-- pg_temp.errata_finding. Safe to repeat: writes work tables only.
with joined as (
  select s.window_start, s.window_end, /*:each key*/ k./*:key*/region/*.*/, /*:end*/ m.event_id, replace(m.row_digest::text, '-', '') as row_digest
  from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = m.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id and s.replaced_by is null
  join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = m.key_id
  where (s.window_start >= $2::timestamptz or $2::timestamptz is null)
    and not exists (
      select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
      where x.session_id = s.session_id and x.part_id = m.copy_since
    )
    and (s.window_start < $3::timestamptz or $3::timestamptz is null)
  union
  select e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.event_id, e.row_digest
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.state is not null
    and e.gone_run_id is null
    and (e.window_start >= $2::timestamptz or $2::timestamptz is null)
    and (e.window_start < $3::timestamptz or $3::timestamptz is null)
),
judged as (
  select c.*, coalesce(e.state = 'included', c.window_end <= $1::timestamptz, false) as is_counted
  from joined as c
  left join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = c.window_start
    and e.window_end = c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and e.event_id = c.event_id
    and e.row_digest = c.row_digest
    and e.state is not null
),
shared as (
  select
    c.event_id,
    count(distinct c.row_digest) filter (where c.is_counted) as counted,
    jsonb_agg(
      jsonb_build_object(
        'window_start', c.window_start::text,
        'window_end', c.window_end::text,
        'key', jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/),
        'counted', c.is_counted
      ) order by c.window_start
    ) as places
  from judged as c
  group by c.event_id
  having count(distinct c.row_digest) > 1
)
insert into pg_temp.errata_finding (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail)
select
  j.window_start, j.window_end, /*:each key*/ j./*:key*/region/*.*/, /*:end*/
  case when s.counted > 1 and j.is_counted then 'counted by both' else 'copy in another window' end,
  j.event_id,
  j.row_digest,
  jsonb_build_object('places', jsonb_path_query_array(s.places, '$[0 to 9]'))
from judged as j
join shared as s using (event_id)
join pg_temp.errata_compared as c
  on c.window_start = j.window_start
  and c.window_end = j.window_end
  /*:each key*/ and array[c./*:key*/region/*.*/] = array[j./*:key*/region/*.*/] /*:end*/
