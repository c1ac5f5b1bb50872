-- The windows that are not sealed yet, straight from bronze; the first of equal ids counts (R5). A function, so that
-- bronze can be altered or dropped without asking Errata. Rows out: one a keyed window.
create or replace function /*:open_windows*/errata.daily_orders_open_windows/*.*/ ()
returns table (
  window_start timestamptz,
  window_end timestamptz,
  local_date date,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  /*:each measure*/ /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/, /*:end*/
  event_count bigint
)
language sql stable
-- a reader of the view `live` needs no right on bronze
security definer
set search_path = pg_catalog, pg_temp
-- a policy that hides rows of bronze is an error, as it is to a run
set row_security = off
as $errata_open_windows$
  select
    r.errata_window_start,
    r.errata_window_end,
    r.errata_local_date,
    /*:each key*/ r./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ (/*:measure_value*/sum(amount)/*.*/)::/*:measure_type*/numeric/*.*/, /*:end*/
    count(*)
  from (
    select distinct on (w.window_start, w.window_end, s.errata_event_id)
      w.window_start as errata_window_start,
      w.window_end as errata_window_end,
      w.local_date as errata_local_date,
      s.*
    from /*:source*/errata.daily_orders_source/*.*/ () as s
    cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (s.errata_event_time) as w
    where s.errata_event_time >= (
        select coalesce(/*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (/*:open_from*/r.sealed_until/*.*/), '-infinity')
        from /*:schema*/errata/*.*/.rollup as r
        where r.rollup_id = /*:rollup_id*/1/*.*/
      )
      and w.window_start >= (
        select coalesce(/*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (/*:open_from*/r.sealed_until/*.*/), '-infinity')
        from /*:schema*/errata/*.*/.rollup as r
        where r.rollup_id = /*:rollup_id*/1/*.*/
      )
      and s.errata_is_valid
    order by w.window_start, w.window_end, s.errata_event_id, s.errata_ingested_at, s.errata_row_digest collate "C"
  ) as r
  group by r.errata_window_start, r.errata_window_end, r.errata_local_date /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
  /*:key_is_open*/having r.errata_window_end > '-infinity'/*.*/
$errata_open_windows$;

revoke execute on function /*:open_windows*/errata.daily_orders_open_windows/*.*/ from public;
