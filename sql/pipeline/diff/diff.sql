-- Diff: what each recomputed keyed window asks for, against its latest version (R9, R10, R15).
--
-- $1 mismatch_is_published: boolean; whether the policy publishes a seal mismatch by itself (R10)
-- $2 rollup_id: integer
-- $3 change_is_published: boolean; whether it publishes by itself a deletion or change of bronze rows, and what a person
--   released from quarantine
-- $4 deletes_are_retention: boolean; whether rows that are missing were removed because their time was up (R15)
--
-- Inputs: pg_temp.errata_touched, pg_temp.errata_result, the ledger, late events. Rows out: one a keyed window, into
-- pg_temp.errata_change, with a verdict:
--
--   change      a measure, the event count or void differs: append a version
--   same        nothing differs: released events are included in the latest version
--   included    version 1 of the stream equals all rows examined by then: it counted the late ones too (R10)
--   emission    the stream has said another value since, and bronze does not give it: the stream's value is a version
--   propose     it differs, and the policy wants a person's word
--   wait        the stream has counted more events than bronze holds yet
--   missing     rows of the window are gone from bronze: it is not recomputed (R15)
--   unexamined  bronze holds rows that no scan has read: the run starts again and reads every partition
--
-- Where bronze rows were deleted or changed (cause source_change) the event count tells nothing: the window is missing
-- only if it differs and an ingestion partition that may have held rows of it is gone, or if deletes are retention. Else
-- the event count decides the last two: latest + newly released events is what a whole bronze gives. A straggler may
-- have been counted already (bronze was restored or rewritten and is read anew), so stragglers may be missing from it.
-- Of a session every row is recorded, and the result `shortage` says how many of them bronze holds no more.
-- `compared` and `judged` are materialized for the planner: drawn into one another their expressions multiply, and planning
-- took 94 ms where it takes 14 (PostgreSQL 18, a busy machine), in every run.
-- Safe to repeat: writes work tables only.
with asked as (
  select distinct t.window_start, t.window_end, t.local_date, /*:each key*/ t./*:key*/region/*.*/, /*:end*/ t.causes
  from pg_temp.errata_touched as t
  where t.target = 'counted'
),
latest as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/)
    g.*,
    1 as is_there
  from asked as a
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start = a.window_start
    and g.window_end is not distinct from a.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
),
-- What a later emission of the stream counts is its own word: which of the late events it counted too nobody says.
before_emission as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/) g.*, l.run_id as emission_run_id
  from latest as l
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start = l.window_start
    and g.window_end is not distinct from l.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[l./*:key*/region/*.*/] /*:end*/
    and g.version < l.version
    and not ('stream_emission' = any (g.causes))
  where 'stream_emission' = any (l.causes)
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
),
released as (
  select
    e.window_start,
    e.window_end,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    array_agg(distinct e.cause) as causes,
    -- a waived event that the latest version still includes is one less
    count(*) filter (where e.state <> 'waived' and e.cause <> 'straggler') - count(*) filter (where e.state = 'waived') as certain,
    count(*) filter (where e.state <> 'waived' and e.cause = 'straggler') as straggling,
    count(*) filter (where e.state <> 'waived' and e.cause <> 'straggler' and e.first_run_id <= b.emission_run_id) as before_emission
  from asked as a
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = a.window_start
    and e.window_end is not distinct from a.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join before_emission as b
    on b.window_start = a.window_start
    and b.window_end = a.window_end
    /*:each key*/ and array[b./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  where e.state in ('pending', 'held', 'waived') and e.released
  group by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
),
emitted as (
  select distinct on (m.window_start, m.window_end /*:each key*/ , m./*:key*/region/*.*/ /*:end*/) m.*
  from asked as a
  join /*:emission*/errata.daily_orders_emission/*.*/ as m
    on m.window_start = a.window_start
    and m.window_end = a.window_end
    /*:each key*/ and array[m./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  where m.kind = 'later_emission' and m.run_id is null
  order by m.window_start, m.window_end, /*:each key*/ m./*:key*/region/*.*/, /*:end*/ m.emission_id desc
),
compared as materialized (
  select
    a.window_start,
    a.window_end,
    a.local_date,
    /*:each key*/ a./*:key*/region/*.*/, /*:end*/
    /*:each measure*/
    n./*:measure*/revenue/*.*/,
    l./*:measure*/revenue/*.*/ as /*:old_measure*/old_revenue/*.*/,
    /*:end*/
    coalesce(n.event_count, 0) as event_count,
    /*:each measure*/
    m./*:measure*/revenue/*.*/ as /*:event_measure*/event_revenue/*.*/,
    /*:end*/
    m.event_count as emitted_event_count,
    m.emission_id is not null
      -- a session whose rows are in another has no value any more, whatever the stream says of it
      and not (/*:is_replaced*/false/*.*/)
      and (/*:emission_differs_from_latest*/m.revenue is distinct from l.revenue/*.*/)
      and (n.event_count is null or /*:emission_differs_from_rows*/m.revenue is distinct from n.revenue/*.*/) as is_emission,
    l.event_count as old_event_count,
    -- of the events that wait since before an emission it may have counted any: bronze holds those of the version before it
    -- and all that wait, or as many as it says, whichever is more
    case when l.event_count is not null and b.emission_run_id is not null
      then greatest(b.event_count, l.event_count - coalesce(r.before_emission, 0))
      else l.event_count
    end as known_events,
    coalesce(l.version, 0) as old_version,
    l.definition_fingerprint as old_fingerprint,
    coalesce(n.event_count, 0) = 0 and l.version is not null as is_void,
    a.causes as queued_causes,
    coalesce(r.causes, '{}') as released_causes,
    coalesce(r.certain, 0) as certain,
    coalesce(r.straggling, 0) as straggling,
    'seal' = any (a.causes) and l.version = 1 as is_new_seal,
    'source_change' = any (a.causes)
      -- rows that look new and make no more of them, and yet another value: counted rows were updated
      or (
        coalesce(r.straggling, 0) > 0
        and coalesce(r.certain, 0) = 0
        and n.event_count = l.event_count
        and (/*:latest_differs*/n.revenue is distinct from l.revenue/*.*/)
      ) as is_source_change,
    /*:open_differs*/coalesce(o.event_count, 0) = 0 or o.revenue is distinct from l.revenue/*.*/ as open_differs,
    /*:all_differ*/coalesce(w.event_count, 0) = 0 or w.revenue is distinct from l.revenue/*.*/ as all_differ,
    coalesce(w.event_count, 0) as all_event_count,
    coalesce(x.event_count, 0) as shortage,
    (
      /*:latest_differs*/n.revenue is distinct from l.revenue/*.*/
      or coalesce(n.event_count, 0) is distinct from coalesce(l.event_count, n.event_count, 0)
      or (n.event_count is null) is distinct from coalesce(l.is_void, true)
    ) as differs
  from asked as a
  left join latest as l
    on l.window_start = a.window_start
    and l.window_end = a.window_end
    /*:each key*/ and array[l./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join before_emission as b
    on b.window_start = a.window_start
    and b.window_end = a.window_end
    /*:each key*/ and array[b./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join released as r
    on r.window_start = a.window_start
    and r.window_end = a.window_end
    /*:each key*/ and array[r./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join emitted as m
    on m.window_start = a.window_start
    and m.window_end = a.window_end
    /*:each key*/ and array[m./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join pg_temp.errata_result as n
    on n.target = 'counted'
    and n.window_start = a.window_start
    and n.window_end = a.window_end
    /*:each key*/ and array[n./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join pg_temp.errata_result as o
    on o.target = 'open'
    and o.window_start = a.window_start
    and o.window_end = a.window_end
    /*:each key*/ and array[o./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join pg_temp.errata_result as w
    on w.target = 'all'
    and w.window_start = a.window_start
    and w.window_end = a.window_end
    /*:each key*/ and array[w./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  left join pg_temp.errata_result as x
    on x.target = 'shortage'
    and x.window_start = a.window_start
    and x.window_end = a.window_end
    /*:each key*/ and array[x./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
),
judged as materialized (
  select
    c.*,
    c.straggling > 0 and c.event_count <= c.known_events + c.certain as is_counted_already,
    case
      when not c.is_new_seal and not ('seal_mismatch' = any (c.queued_causes)) then null
      when c.is_new_seal and not c.open_differs then null
      -- the stream counted nothing, and there is nothing; or bronze has nothing of it yet
      when c.is_new_seal and c.all_event_count = 0 then case when c.old_event_count = 0 then null else 'wait' end
      when c.is_new_seal and not c.all_differ then 'included'
      when c.is_new_seal and c.all_event_count < c.old_event_count then 'wait'
      when $1::boolean then 'mismatch'
      else 'propose'
    end as seal_verdict
  from compared as c
)
insert into pg_temp.errata_change (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
  /*:each measure*/ /*:measure*/revenue/*.*/, /*:old_measure*/old_revenue/*.*/, /*:end*/
  event_count, old_event_count, old_version, old_fingerprint, is_void, causes, verdict, why
)
select
  j.window_start, j.window_end, j.local_date, /*:each key*/ j./*:key*/region/*.*/, /*:end*/
  /*:each measure*/
  case when v.verdict = 'emission' then j./*:event_measure*/event_revenue/*.*/ else j./*:measure*/revenue/*.*/ end,
  j./*:old_measure*/old_revenue/*.*/,
  /*:end*/
  case when v.verdict = 'emission' then j.emitted_event_count else j.event_count end,
  j.old_event_count,
  j.old_version,
  j.old_fingerprint,
  j.is_void and v.verdict <> 'emission',
  case
    when v.verdict = 'emission' then '{stream_emission}'::text[]
    -- version 1 of the stream, right: nearly all that a run looks at
    when j.released_causes = '{}' and j.queued_causes = '{seal}' and j.seal_verdict is null then '{}'
    else array(
      select distinct c.cause
      from unnest(
        -- what looked like a straggler may have turned out to be a changed row, or to have been counted already
        case when j.is_source_change then array_remove(j.released_causes, 'straggler') || '{source_change}'::text[]
          when j.is_counted_already then array_remove(j.released_causes, 'straggler')
          else j.released_causes
        end
        || array(
          select q.cause
          from unnest(j.queued_causes) as q (cause)
          where q.cause not in ('seal', 'seal_mismatch')
            and not ((j.is_source_change or j.is_counted_already) and q.cause = 'straggler')
        )
        || case when j.seal_verdict in ('mismatch', 'propose') then '{seal_mismatch}'::text[] end
      ) as c (cause)
      order by c.cause
    )
  end,
  v.verdict,
  v.why
from judged as j
left join lateral (
  select string_agg(p.relation, ', ' order by p.relation) as relations
  from /*:schema*/errata/*.*/.ingestion_partition as p
  -- asked in here, so that nothing is looked for in the nearly all others
  where (j.is_source_change or j.old_event_count is null or j.event_count < /*:expected_events*/(j.known_events + j.certain)/*.*/)
    and p.rollup_id = $2::integer
    and p.gone_at is not null
    and p.event_time_from < j.window_end
    and p.event_time_to >= j.window_start
) as g on true
cross join lateral (
  select
    case
      when j.is_emission then 'emission'
      when j.seal_verdict in ('included', 'wait') then j.seal_verdict
      when j.seal_verdict = 'propose' and j.differs then 'propose'
      when j.is_source_change and j.seal_verdict is null then case
        when $4::boolean and (j.event_count < /*:expected_events*/(j.known_events + j.certain)/*.*/ or (j.old_version > 0 and j.old_event_count is null)) then 'missing'
        when g.relations is not null and (j.differs or j.event_count < /*:expected_events*/(j.known_events + j.certain)/*.*/) then 'missing'
        when j.differs and not $3::boolean then 'propose'
        when j.differs then 'change'
        else 'same'
      end
      when j.seal_verdict is null and j.event_count < /*:expected_events*/(j.known_events + j.certain)/*.*/ then 'missing'
      when j.old_version > 0 and j.old_event_count is null and g.relations is not null then 'missing'
      when j.seal_verdict is null and j.event_count > /*:accounted_events*/(coalesce(j.known_events, 0) + j.certain + j.straggling)/*.*/
        and (j.old_version = 0 or j.old_event_count is not null) then 'unexamined'
      when j.event_count = 0 and j.old_event_count = 0 then 'same'
      when j.differs and not $3::boolean and 'quarantine_release' = any (j.released_causes) then 'propose'
      when j.differs then 'change'
      else 'same'
    end as verdict,
    case
      when j.seal_verdict = 'wait'
        then format('version 1 counts %s events, bronze holds %s of them so far', coalesce(j.old_event_count::text, 'some'), j.all_event_count)
      when j.seal_verdict = 'propose'
        then 'version 1 differs from its own rows'
      when j.is_source_change and j.seal_verdict is null then case
        when $4::boolean and j.event_count < /*:expected_events*/(j.known_events + j.certain)/*.*/
          then format('%s events were published or released, bronze holds %s of them, and deletes are retention', /*:expected_events*/(j.known_events + j.certain)/*.*/, j.event_count)
            || coalesce('; gone: ' || g.relations, '')
        when $4::boolean and j.old_version > 0 and j.old_event_count is null
          then 'the published event count is not known, and deletes are retention'
        when g.relations is not null
          then format('bronze rows of it were deleted or changed, and ingestion partitions that may have held others are gone: %s', g.relations)
        when not $3::boolean then 'bronze rows of it were deleted or changed'
      end
      when j.seal_verdict is null and j.event_count < /*:expected_events*/(j.known_events + j.certain)/*.*/
        then format('%s events were published or released, bronze holds %s of them', /*:expected_events*/(j.known_events + j.certain)/*.*/, j.event_count)
          || coalesce('; gone: ' || g.relations, '')
      when j.old_version > 0 and j.old_event_count is null and g.relations is not null
        then format('the published event count is not known, and ingestion partitions are gone: %s', g.relations)
      when j.seal_verdict is null and j.event_count > /*:accounted_events*/(coalesce(j.known_events, 0) + j.certain + j.straggling)/*.*/
        and (j.old_version = 0 or j.old_event_count is not null)
        then format('bronze holds %s events of it, %s of them are not accounted for', j.event_count, j.event_count - /*:accounted_events*/(coalesce(j.known_events, 0) + j.certain + j.straggling)/*.*/)
      when j.differs and not $3::boolean and 'quarantine_release' = any (j.released_causes)
        then 'rows were released from quarantine'
    end as why
) as v
