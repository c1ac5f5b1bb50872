-- The keyed windows that a person's word is about and that this run cannot answer, with the reason. Rows out: one a keyed
-- window.
--
-- $1 complete_from: bronze is complete from here on
-- $2 rollup_id: integer
--
-- Inputs: pg_temp.errata_asked, errata_change, errata_failing. Where an event was waived that a version includes, only a
-- version without it is an answer. Safe to repeat: it reads.
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  case
    when c.window_start < $1::timestamptz then 'incomplete'
    when f.error is not null then 'failing'
    when v.verdict = 'held' then 'closed'
    when v.verdict = 'propose' or o.proposal_id is not null then 'proposed'
    when v.verdict is not null then 'blocked'
    when q.error is not null then 'failing'
    else 'unsealed'
  end as obstacle,
  case
    when c.window_start < $1::timestamptz then format('bronze is complete from %s on, and the window starts earlier', $1::text)
    else coalesce(f.error, v.why, q.error)
  end as why,
  w.is_taken_back
from pg_temp.errata_asked as c
left join pg_temp.errata_change as v
  on v.window_start = c.window_start
  and v.window_end = c.window_end
  /*:each key*/ and array[v./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join lateral (
  select max(f.error) as error
  from pg_temp.errata_failing as f
  where f.window_start = c.window_start
    and f.window_end = c.window_end
    /*:each key*/ and array[f./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
) as f on true
left join /*:touched*/errata.daily_orders_touched/*.*/ as q
  on q.cause = 'unsealed'
  and q.window_start = c.window_start
  and q.window_end = c.window_end
  /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join /*:schema*/errata/*.*/.proposal as o
  on o.rollup_id = $2::integer
  and o.state = 'open'
  and o.proposal_id is distinct from c.errata_proposal_id
  and o.window_start = c.window_start
  and o.window_end = c.window_end
  and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
cross join lateral (
  select exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = c.window_start
      and e.window_end = c.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and e.state = 'waived'
      and e.released
  ) as is_taken_back
) as w
where v.verdict is null
  or (w.is_taken_back and v.verdict not in ('change', 'same'))
  or v.verdict not in ('change', 'same', 'included', 'emission', 'rejected')
  or o.proposal_id is not null
order by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
