-- A person's word, sessions: of what it is about, all that stands proposed of the same rows is decided with it, and the session
-- that has them now is recomputed with it (R6s, R10).
--
-- $1 rollup_id: integer
--
-- Inputs: pg_temp.errata_asked. Rows out: one, how many further proposals it is about. Safe to repeat: what is asked for
-- already is passed over.
with group_of as (
  select o.window_start, o.window_end, n.session_id, n.window_start as new_start, n.window_end as new_end, o.replaced_cause /*:each key*/ , k./*:key*/region/*.*/ /*:end*/
  from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  join /*:session*/errata.daily_orders_session/*.*/ as o on o.key_id = k.key_id
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as n on n.session_id = p.session_id
  where n.replaced_by is null
    and k.is_key
    and n.session_id in (
      select p.session_id
      from pg_temp.errata_asked as a
      join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
        on k.is_key
        /*:each key*/ and array[k./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
      join /*:session*/errata.daily_orders_session/*.*/ as o
        on o.key_id = k.key_id
        and o.window_start = a.window_start
        and o.window_end = a.window_end
      join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = o.session_id
    )
),
standing as (
  select e.*, o.proposal_id
  from group_of as e
  left join /*:schema*/errata/*.*/.proposal as o
    on o.rollup_id = $1::integer
    and o.state = 'open'
    and o.window_start = e.window_start
    and o.window_end = e.window_end
    and o.key = jsonb_build_array(/*:event_key_texts*/e.region::text/*.*/)
),
-- in the approving run no row of the queue says why a session would be void, or why one takes its place
caused as (
  update pg_temp.errata_asked as a
  set cause = s.replaced_cause
  from standing as s
  where a.window_start = s.window_start
    and a.window_end = s.window_end
    /*:each key*/ and array[a./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
    and a.cause is null
),
added as (
  insert into pg_temp.errata_asked (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ errata_proposal_id, cause)
  select s.window_start, s.window_end, /*:each key*/ s./*:key*/region/*.*/, /*:end*/ min(s.proposal_id), min(s.replaced_cause)
  from standing as s
  where (s.proposal_id is not null or (s.window_start, s.window_end) = (s.new_start, s.new_end))
    and exists (select from standing as o where o.session_id = s.session_id and o.proposal_id is not null)
    and not exists (
      select from pg_temp.errata_asked as a
      where a.window_start = s.window_start
        and a.window_end = s.window_end
        /*:each key*/ and array[a./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
    )
  group by s.window_start, s.window_end /*:each key*/ , s./*:key*/region/*.*/ /*:end*/
  returning errata_proposal_id
)
select count(a.errata_proposal_id)::integer as proposals
from added as a
