-- Late events: keep, by name, what landed late, straggled or is quarantined, with its own share of each measure.
--
-- $1 run_id: bigint
-- $2 released_causes: text[], the causes that the policy publishes by itself (R10)
-- $3 baseline: boolean; the history is being sealed as it is known, late rows included (R8)
-- $4 complete_from: windows that start earlier are not sealed (R15)
-- $5 sealed_until: the watermark that seals; a row may be judged by one that is ahead of it
-- $6 since: the bound of this run
-- $7 knows_ids: boolean; an event is known by its id in its keyed window. Not of sessions, whose windows move
--
-- Inputs: pg_temp.errata_candidate, pg_temp.errata_first_copy. Rows out: one a new late event. Side effect: keyed windows
-- whose events with a state look otherwise now are noted like those of changed bronze rows.
-- Safe to repeat: an event that is kept already stays as it was first judged (R6); one that was gone from bronze and is
-- back awaits its turn again, or, where a version has included it, has its window recomputed.
with candidate as (
  select distinct on (c.window_start, c.window_end, c.errata_event_id, c.errata_row_digest)
    c.*,
    case c.errata_landing
      when 'late_firing' then 'late_firing'
      when 'side_output' then 'refused'
      when 'open' then 'straggler'
    end as errata_cause
  from pg_temp.errata_candidate as c
  left join pg_temp.errata_first_copy as f
    on f.window_start = c.window_start
    and f.window_end = c.window_end
    and f.event_id = c.errata_event_id
  -- a copy has no landing and is no late event (R5)
  where (f.row_digest is null or f.row_digest = c.errata_row_digest)
    -- where bronze rows were changed, a row that is new to the scan is no straggler: nothing tells the two apart
    and not (
      c.errata_landing = 'open'
      and exists (
        select from /*:source_change*/errata.daily_orders_source_change/*.*/ as n
        where n.window_start = c.window_start
          and n.window_end = c.window_end
          /*:each key*/ and array[n./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      )
    )
    -- version 1 is still to be written, over the rows that landed open: this one is among them (R8, R19)
    and not (
      c.errata_landing = 'open'
      and exists (
        select from /*:touched*/errata.daily_orders_touched/*.*/ as q
        where q.cause = 'unsealed'
          and q.window_start = c.window_start
          and q.window_end = c.window_end
          /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      )
    )
),
-- In a keyed window an id counts once, so a row that differs from its state row is the same event, changed; or it only
-- reads otherwise, since a column has another type or the rollup a further one. Both are judged by amend.
changed as (
  select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.errata_event_id
  from candidate as c
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = c.window_start
    and e.window_end is not distinct from c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and e.event_id = c.errata_event_id
  where $7::boolean
    and e.landing is not null
  group by c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.errata_event_id, c.errata_row_digest
  having not bool_or(e.row_digest = c.errata_row_digest)
),
noted as (
  insert into /*:source_change*/errata.daily_orders_source_change/*.*/ (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ since)
  select distinct c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ $6::timestamptz
  from changed as c
)
insert into /*:late_event*/gold.daily_orders_late_event/*.*/ as e (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
  event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition,
  watermark, landing, state, cause, version, released, quarantine_reason,
  /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/
  row_digest, first_run_id, state_run_id
)
select
  c.window_start, c.window_end, c.local_date, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  c.errata_event_id, c.errata_event_time, c.errata_ingested_at, c.errata_arrived_at,
  case
    when isfinite(c.errata_event_time) and isfinite(c.errata_arrived_at)
    then extract(epoch from c.errata_arrived_at - c.errata_event_time)
  end,
  c.errata_source_partition, c.errata_watermark, c.errata_landing,
  case when c.errata_landing = 'quarantined' then null when b.is_sealed_with then 'included' else 'pending' end,
  c.errata_cause,
  case when b.is_sealed_with then 1 end,
  coalesce(c.errata_cause = any ($2::text[]), false),
  c.errata_quarantine,
  /*:each measure*/ m./*:measure*/revenue/*.*/, /*:end*/
  c.errata_row_digest, $1::bigint, $1::bigint
from candidate as c
/*:candidate_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[c.region]/*.*/
cross join lateral (
  select $3::boolean and c.errata_landing <> 'quarantined' and c.window_start >= $4::timestamptz and c.window_end <= /*:candidate_sealed_until*/$5::timestamptz/*.*/ as is_sealed_with
) as b
cross join lateral (
  select count(*) as errata_event_count /*:each measure*/ , /*:contribution*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/ /*:end*/
  from (select c.*) as one
  /*:except_failing_row*/where true/*.*/
) as m
where not exists (
  select from changed as n
  where n.window_start = c.window_start
    and n.window_end = c.window_end
    /*:each key*/ and array[n./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and n.errata_event_id = c.errata_event_id
)
on conflict on constraint /*:late_event_once*/daily_orders_late_event_once/*.*/ do update
  set
    state = coalesce(e.state, 'pending'),
    released = case when e.state is null then excluded.released else e.released end,
    state_run_id = excluded.state_run_id,
    gone_run_id = null
  where e.gone_run_id is not null
