-- Reconcile: what was known at an instant, and what was published since, over all keyed windows of the sweep. Rows out: one an
-- additive measure. known + since = latest; latest + pending + held + waived + unexplained + blocked = bronze.
--
-- Inputs: pg_temp.errata_compared, errata_known. Safe to repeat: it reads.
select m.measure, m.known::text as known, (m.latest - m.known)::text as since
from (
  select
    /*:each additive*/
    coalesce(sum(k./*:measure*/revenue/*.*/), 0)::numeric as /*:measure*/revenue/*.*/,
    coalesce(sum(c./*:latest_measure*/latest_revenue/*.*/), 0)::numeric as /*:latest_measure*/latest_revenue/*.*/,
    /*:end*/
    count(*) as errata_keyed_windows
  from pg_temp.errata_compared as c
  left join pg_temp.errata_known as k
    on k.window_start = c.window_start
    and k.window_end = c.window_end
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
) as t
cross join lateral (
  values
    (null::text, null::numeric, null::numeric)
    /*:each additive*/ , (/*:measure_name*/'revenue'/*.*/, t./*:measure*/revenue/*.*/, t./*:latest_measure*/latest_revenue/*.*/) /*:end*/
) as m (measure, known, latest)
where m.measure is not null
