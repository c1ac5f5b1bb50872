-- What `errata changes --since` lists, for SQL: keyed windows that got a correction since a mark, the end of a run or an instant
-- (R9, R11). Rows out: one a keyed window, with the value as it was published then and as it is now; `since` is the name of a
-- mark, else the number of a run, else an instant.
--
-- Corrections name the run that published them, and the index over runs finds them: the cost follows what changed. Version
-- 1 of a further window changes no number that had shipped. Keyed windows
-- are looked up as in `report/changes_since.sql`, where the figures stand. Safe to repeat: it reads.
create or replace function /*:changes*/gold.daily_orders_changes/*.*/ (since text)
returns table (
  window_start timestamptz,
  window_end timestamptz,
  local_date date,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  old_version integer,
  version integer,
  /*:each measure*/
  /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/,
  /*:previous_measure*/previous_revenue/*.*/ /*:measure_type*/numeric/*.*/,
  /*:delta_measure*/delta_revenue/*.*/ /*:measure_type*/numeric/*.*/,
  /*:end*/
  event_count bigint,
  previous_event_count bigint,
  is_void boolean,
  causes text[],
  run_id bigint,
  stamp timestamptz
)
language plpgsql stable
-- a reader needs no right on the ledger, the marks or the runs
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $errata_changes$
#variable_conflict use_column
declare
  errata_word constant text := since;
  errata_since timestamptz;
begin
  select m.stamp into errata_since
  from /*:schema*/errata/*.*/.mark as m
  where m.name = errata_word and (m.rollup_id = /*:rollup_id*/1/*.*/ or m.rollup_id is null);
  if not found and errata_word ~ '^[1-9][0-9]{0,17}$' then
    select r.stamp into errata_since from /*:schema*/errata/*.*/.run as r where r.run_id = errata_word::bigint;
    if errata_since is null then
      raise exception using
        errcode = 'undefined_object',
        message = format('there is no run %s that came to its end', errata_word),
        hint = '`errata status` shows the last run of each rollup';
    end if;
  elsif not found then
    begin
      errata_since := errata_word::timestamptz;
    exception when data_exception then
      raise exception using
        errcode = 'undefined_object',
        message = format('%s is no mark, no run and no instant', quote_nullable(errata_word)),
        hint = '`errata mark` lists the marks; an instant is written as 2026-11-01T00:00Z';
    end;
  end if;
  return query
  with corrected as (
    select distinct g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/
    from /*:ledger*/gold.daily_orders/*.*/ as g
    where g.run_id in (
        select r.run_id
        from /*:schema*/errata/*.*/.run as r
        where r.rollup_id = /*:rollup_id*/1/*.*/ and r.stamp > errata_since
      )
      and g.version > 1
  )
  select
    k.window_start,
    k.window_end,
    g.local_date,
    /*:each key*/ k./*:key*/region/*.*/, /*:end*/
    o.version,
    g.version,
    /*:each measure*/
    g./*:measure*/revenue/*.*/,
    o./*:measure*/revenue/*.*/,
    /*:changed_value*/coalesce(g.revenue, 0) - coalesce(o.revenue, 0)/*.*/,
    /*:end*/
    g.event_count,
    o.event_count,
    g.is_void,
    b.causes,
    g.run_id,
    g.stamp
  from corrected as k
  cross join lateral (
    select g.*
    from (
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ = k./*:key*/region/*.*/ /*:end*/
      union all
      select g.*
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where (false /*:each key*/ or k./*:key*/region/*.*/ is null /*:end*/)
        and g.window_start = k.window_start and g.window_end = k.window_end
        /*:each key*/ and g./*:key*/region/*.*/ is not distinct from k./*:key*/region/*.*/ /*:end*/
    ) as g
    order by g.version desc
    limit 1
  ) as g
  left join lateral (
    select o.*
    from (
      select o.*
      from /*:ledger*/gold.daily_orders/*.*/ as o
      where o.window_start = k.window_start and o.window_end = k.window_end
        /*:each key*/ and o./*:key*/region/*.*/ = k./*:key*/region/*.*/ /*:end*/
      union all
      select o.*
      from /*:ledger*/gold.daily_orders/*.*/ as o
      where (false /*:each key*/ or k./*:key*/region/*.*/ is null /*:end*/)
        and o.window_start = k.window_start and o.window_end = k.window_end
        /*:each key*/ and o./*:key*/region/*.*/ is not distinct from k./*:key*/region/*.*/ /*:end*/
    ) as o
    where o.stamp <= errata_since
    order by o.version desc
    limit 1
  ) as o on true
  cross join lateral (
    select array_agg(distinct u.cause) as causes
    from (
      select c.*
      from /*:ledger*/gold.daily_orders/*.*/ as c
      where c.window_start = k.window_start and c.window_end = k.window_end
        /*:each key*/ and c./*:key*/region/*.*/ = k./*:key*/region/*.*/ /*:end*/
      union all
      select c.*
      from /*:ledger*/gold.daily_orders/*.*/ as c
      where (false /*:each key*/ or k./*:key*/region/*.*/ is null /*:end*/)
        and c.window_start = k.window_start and c.window_end = k.window_end
        /*:each key*/ and c./*:key*/region/*.*/ is not distinct from k./*:key*/region/*.*/ /*:end*/
    ) as c
    cross join lateral unnest(c.causes) as u (cause)
    where c.version > greatest(o.version, 1)
  ) as b;
end
$errata_changes$;

-- Like a view it is for those whom it is granted to.
revoke execute on function /*:changes*/gold.daily_orders_changes/*.*/ (text) from public;
