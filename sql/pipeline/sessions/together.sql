-- Decide, sessions: what a session would publish and the void versions of those that it replaced are decided as one (R6s,
-- R10): its rows must not be published twice, nor be missing.
--
-- $1 verb: text
--
-- Inputs: pg_temp.errata_change, decided one by one; pg_temp.errata_succession. Rows out: one a change that awaits a person
-- with another of its session, or that the person who decided on it let be published. An approval holds for all of them or for none: where a later row has moved the bounds, one
-- of them was never proposed. Safe to repeat: writes work tables only.
with member as (
  select
    c.ctid as place,
    c.verdict,
    c.errata_proposal_id,
    c.approver,
    s.window_start,
    s.window_end
    /*:each key*/ , s./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_change as c
  join (
    select distinct s.window_start, s.window_end, /*:each key*/ s./*:key*/region/*.*/, /*:end*/ w.at_start, w.at_end
    from pg_temp.errata_succession as s
    cross join lateral (values (s.window_start, s.window_end), (s.old_start, s.old_end)) as w (at_start, at_end)
    where not s.is_shipping
  ) as s
    on s.at_start = c.window_start
    and s.at_end = c.window_end
    /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
),
together as (
  select
    m.window_start,
    m.window_end,
    /*:each key*/ m./*:key*/region/*.*/, /*:end*/
    bool_or(m.verdict = 'held') as is_held,
    bool_or(m.verdict = 'propose') as is_proposed,
    max(m.approver) as approver,
    $1::text = 'approve' and bool_or(m.verdict = 'change' and m.errata_proposal_id is null) as is_moved
  from member as m
  group by m.window_start, m.window_end /*:each key*/ , m./*:key*/region/*.*/ /*:end*/
)
update pg_temp.errata_change as c
set
  verdict = case when t.is_held then 'held' when t.is_proposed or t.is_moved then 'propose' else c.verdict end,
  why = case when t.is_held or t.is_proposed or t.is_moved then format(
    case
      when t.is_held then 'it goes with the session from %s to %s, which lies in a closed period in part'
      when t.is_moved then 'a later row has moved the bounds: its rows are in the session from %s to %s'
      else 'it goes with the session from %s to %s'
    end,
    t.window_start::text,
    t.window_end::text
  ) end,
  approver = case when not (t.is_held or t.is_proposed or t.is_moved) then t.approver end,
  posting_period = case when not (t.is_held or t.is_proposed or t.is_moved) then c.posting_period end
from member as m
join together as t
  on t.window_start = m.window_start
  and t.window_end = m.window_end
  /*:each key*/ and array[t./*:key*/region/*.*/] = array[m./*:key*/region/*.*/] /*:end*/
where c.ctid = m.place
  and $1::text <> 'reject'
  and (
    (m.verdict = 'change' and (t.is_held or t.is_proposed or t.is_moved or t.approver is not null))
    or (m.verdict = 'rejected' and (t.is_held or t.is_proposed))
  )
