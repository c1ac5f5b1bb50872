-- Decide: who publishes what differs, the policy or a person (R10).
--
-- $1 rollup_id: integer
-- $2 verb: text
-- $3 actor: text; null where the job runs by itself
-- $4 is_review: boolean; the policy proposes every difference
-- $5 horizon: interval; null where there is none
-- $6 bound: bound of this run
-- $7 fingerprint: of the definition in force
-- $8 stamp: of this run
-- $9 posting_period: text, the open period that adjustments are posted to; null where there is none
--
-- Inputs: pg_temp.errata_change with the verdicts of the diff, pg_temp.errata_succession, the ledger, late events, proposals. Rows out: one a keyed
-- window whose verdict may be another:
--
--   propose      the policy, a threshold or the horizon wants a person's word, or the proposal to be approved is stale
--   change       a person has said so: by an approval, by restating, or of all events that are new in it
--   same         nothing differs but measures that the latest version's definition had not: they enter by restating alone
--   held         the period of the window is closed, and whoever runs this may not publish into it (R12)
--   rejected     a person has rejected just this before: it stays set aside, and is not proposed again
--
-- A threshold is measured from the last value that was sealed or that a person let be published, so that many small
-- differences do not creep past it. A session is measured from the values of those that it replaced, where they add up; that these
-- become void is no difference of its own. A session all of whose rows ship in a version 1 is void without anybody's word. Safe to repeat: writes work tables only.
with differing as (
  select
    c.ctid as place,
    c.*,
    jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as errata_key,
    '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ as errata_measures
  from pg_temp.errata_change as c
  where c.verdict in ('change', 'emission', 'propose')
),
released as (
  select
    c.place,
    bool_or(e.state <> 'waived') as has_pending,
    bool_or(e.state <> 'waived' and (e.state_actor is null or e.cause = 'quarantine_release')) as has_unspoken,
    max(e.state_actor) as spoken_by,
    max(coalesce(e.state_run_id, e.first_run_id)) filter (where e.state <> 'waived') as last_run_id
  from differing as c
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = c.window_start
    and e.window_end is not distinct from c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  where e.state in ('pending', 'held', 'waived') and e.released
  group by c.place
),
part as (
  select c.place, c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ true as is_own
  from differing as c
  union all
  select c.place, s.old_start, s.old_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ false
  from differing as c
  join pg_temp.errata_succession as s
    on s.window_start = c.window_start
    and s.window_end = c.window_end
    /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  where not s.is_shipping
),
part_base as (
  select distinct on (c.place, c.window_start, c.window_end)
    c.place,
    c.is_own
    /*:each limited*/ , coalesce(g./*:measure*/revenue/*.*/, 0)::numeric as /*:measure*/revenue/*.*/ /*:end*/
  from part as c
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start = c.window_start
    and g.window_end is not distinct from c.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  where g.version = 1 or g.approver is not null
  order by c.place, c.window_start, c.window_end, g.version desc
),
base as (
  select
    c.place
    /*:each limited*/ , sum(c./*:measure*/revenue/*.*/) filter (where c.is_own or /*:adds_up*/true/*.*/) as /*:measure*/revenue/*.*/ /*:end*/
  from part_base as c
  group by c.place
),
-- what becomes of the rows of a session that was replaced
succeeded as (
  select c.place, bool_and(s.is_shipping) as is_shipping, bool_or(n.place is not null) as is_judged
  from differing as c
  join pg_temp.errata_succession as s
    on s.old_start = c.window_start
    and s.old_end = c.window_end
    /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join differing as n
    on n.window_start = s.window_start
    and n.window_end = s.window_end
    /*:each key*/ and array[n./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
  where c.is_void
  group by c.place
),
judged as (
  select
    c.place,
    c.verdict as said,
    c.why,
    c.causes,
    coalesce(r.has_pending, false) as has_pending,
    r.spoken_by,
    -- nothing but events that a person let in, or waived
    r.place is not null
      and not r.has_unspoken
      and c.verdict in ('change', 'propose')
      and c.causes <@ '{late_firing,straggler,refused,quarantine_release}'::text[]
      and (o.proposal_id is null or o.is_held)
      and n.proposal_id is null as is_spoken,
    o.proposal_id is not null as is_proposed,
    case
      when $2::text <> 'reject'
        and o.base_version = c.old_version
        and o.event_count = c.event_count
        and o.measures = c.errata_measures
        and coalesce(r.last_run_id <= o.run_id, true)
      then o.proposal_id
    end as proposal_id,
    n.proposal_id is not null as has_rejected,
    coalesce(
      n.base_version = c.old_version
        and n.rejected_event_count = c.event_count
        and n.rejected_measures = c.errata_measures
        and r.has_pending is not true,
      false
    ) as is_rejected,
    -- the stream has said just this since
    exists (
      select from /*:emission*/errata.daily_orders_emission/*.*/ as m
      where 'stream_emission' = any (c.causes)
        and m.window_start = c.window_start
        and m.window_end = c.window_end
        /*:each key*/ and array[m./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
        and m.kind = 'later_emission'
        and m.run_id is null
        /*:each measure*/ and m./*:measure*/revenue/*.*/ is not distinct from c./*:measure*/revenue/*.*/ /*:end*/
    ) as is_emitted,
    nullif(array_to_string('{}'::text[] /*:each limited*/ || array[
      case
        when abs(coalesce(c./*:measure*/revenue/*.*/, 0)::numeric - coalesce(b./*:measure*/revenue/*.*/, 0)) > /*:absolute*/1000.00::numeric/*.*/
          or abs(coalesce(c./*:measure*/revenue/*.*/, 0)::numeric - coalesce(b./*:measure*/revenue/*.*/, 0)) * 100 > /*:relative*/5::numeric/*.*/ * abs(coalesce(b./*:measure*/revenue/*.*/, 0))
        then format(
          '%s would be %s, the value last sealed or approved is %s, and the threshold is %s',
          /*:measure_name*/'revenue'/*.*/,
          coalesce(c./*:measure*/revenue/*.*/::text, 'nothing'),
          coalesce(b./*:measure*/revenue/*.*/::text, 'nothing'),
          /*:limit_text*/'1000.00'/*.*/
        )
      end
    ] /*:end*/, '; '), '') as beyond,
    coalesce(x.is_shipping, false) as is_shipping,
    coalesce(x.is_judged, false) as is_judged_together,
    p.period,
    coalesce(p.may_post and $9::text is not null, true) as may_post,
    case when c.window_end < $6::timestamptz - $5::interval then format('the window ended more than the horizon ago, %s', c.window_end::text) end as too_old,
    coalesce(d.definition -> 'measures' is distinct from f.definition -> 'measures', true) and c.old_version > 0 as is_redefined,
    c.event_count is distinct from c.old_event_count
      /*:each measure*/
      or (coalesce(d.definition -> 'measures' ? /*:measure_name*/'revenue'/*.*/, true) and c./*:measure*/revenue/*.*/ is distinct from c./*:old_measure*/old_revenue/*.*/)
      /*:end*/ as is_changed
  from differing as c
  left join released as r on r.place = c.place
  left join base as b on b.place = c.place
  left join succeeded as x on x.place = c.place
  left join /*:schema*/errata/*.*/.definition as d on d.fingerprint = c.old_fingerprint
  left join /*:schema*/errata/*.*/.definition as f on f.fingerprint = $7::text
  left join /*:schema*/errata/*.*/.proposal as o
    on o.rollup_id = $1::integer
    and o.state = 'open'
    and o.window_start = c.window_start
    and o.window_end = c.window_end
    and o.key = c.errata_key
  left join /*:schema*/errata/*.*/.proposal as n
    on n.rollup_id = $1::integer
    and n.rejected_measures is not null
    and n.window_start = c.window_start
    and n.window_end = c.window_end
    and n.key = c.errata_key
  left join lateral (
    select
      a.period,
      a.act = 'soft_close' and to_regrole(quote_ident(a.posting_role)) is not null
        and pg_has_role(current_user, to_regrole(quote_ident(a.posting_role)), 'member') as may_post
    from /*:schema*/errata/*.*/.period_act as a
    where a.rollup_id = $1::integer
      and a.act <> 'reopen'
      and a.period_start <= c.window_start
      and a.period_end > c.window_start
      and not exists (
        select from /*:schema*/errata/*.*/.period_act as r
        where r.rollup_id = a.rollup_id
          and r.act = 'reopen'
          and r.act_id > a.act_id
          and r.period_start <= c.window_start
          and r.period_end > c.window_start
          and r.expires_at > $8::timestamptz
      )
    order by a.act_id desc
    limit 1
  ) as p on true
),
decided as (
  select
    j.*,
    case
      -- where a period is closed only those whom it lets publish, and only on their word
      when j.period is not null and not j.may_post and ($2::text in ('approve', 'restate') or j.is_spoken) then 'held'
      when $2::text = 'approve' and j.proposal_id is not null then case when j.said = 'emission' then 'emission' else 'change' end
      when $2::text = 'approve' and j.is_proposed then case when j.period is null then 'propose' else 'held' end
      when $2::text = 'restate' then case when j.said = 'propose' then 'change' else j.said end
      when $2::text = 'reject' then case when j.has_pending then 'propose' else 'rejected' end
      when j.said <> 'emission' and j.is_redefined and not j.is_changed then 'same'
      when j.is_spoken then 'change'
      when j.is_rejected then 'rejected'
      when j.period is not null then 'held'
      when j.is_shipping then j.said
      when j.has_rejected then 'propose'
      -- with what took its rows over: together.sql
      when j.is_judged_together then j.said
      when j.beyond is not null or j.too_old is not null then 'propose'
      when $4::boolean and j.said = 'change' and not j.is_emitted then 'propose'
      else j.said
    end as verdict
  from judged as j
)
update pg_temp.errata_change as c
set
  verdict = d.verdict,
  why = case
    when d.verdict = 'propose' then coalesce(
      nullif(concat_ws(
        '; ',
        case when d.said = 'propose' then d.why end,
        case when not d.is_judged_together then d.beyond end,
        case when not d.is_judged_together then d.too_old end,
        case when d.has_rejected then 'what was rejected before is still in it' end,
        case when d.said = 'change' and $4::boolean and not d.is_judged_together then 'the policy is review' end
      ), ''),
      'it is not what was proposed'
    )
    when d.verdict = 'held' then format('the period %s is closed', d.period)
    when d.verdict = 'rejected' then 'a person has rejected it'
  end,
  errata_proposal_id = d.proposal_id,
  approver = case
    when d.verdict not in ('change', 'emission') then null
    when $2::text in ('approve', 'restate') then $3::text
    when d.is_spoken then d.spoken_by
  end,
  posting_period = case when d.period is not null and d.verdict in ('change', 'emission') then $9::text end,
  causes = case
    when $2::text = 'restate' and d.said <> 'emission' then array(
      select n.cause from unnest(array_remove(d.causes, 'source_change')) as n (cause)
      union
      select 'definition' where d.is_redefined
      union
      select 'source_change' where d.is_changed and d.causes = '{source_change}'
      order by 1
    )
    else d.causes
  end
from decided as d
where c.ctid = d.place
