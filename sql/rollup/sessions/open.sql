-- The sessions that are not sealed yet, as the last run left them, their measures straight from bronze. A function, so that
-- bronze can be altered or dropped without asking Errata. Rows out: one a keyed session.
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
    null::date,
    /*:each key*/ r./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ (/*:measure_value*/sum(amount)/*.*/)::/*:measure_type*/numeric/*.*/, /*:end*/
    count(*)
  from (
    select
      n.window_start as errata_window_start,
      n.window_end as errata_window_end,
      s.*,
      row_number() over (partition by n.session_id, s.errata_event_id, s.errata_row_digest) as errata_twin
    from /*:session*/errata.daily_orders_session/*.*/ as n
    join /*:session_key*/errata.daily_orders_session_key/*.*/ as k on k.key_id = n.key_id
    join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = n.session_id
    join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
    join /*:source*/errata.daily_orders_source/*.*/ () as s
      on s.errata_event_time >= n.window_start
      and s.errata_event_time < n.window_end
      and s.errata_event_id = m.event_id
      and s.errata_row_digest::uuid = m.row_digest
    where n.is_seal_due
      and n.replaced_by is null
      and not exists (
        select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
        where x.session_id = n.session_id and x.part_id = m.copy_since
      )
      and n.window_end > (
        select coalesce(/*:fold_sealed_until*/r.sealed_until/*.*/, '-infinity')
        from /*:schema*/errata/*.*/.rollup as r
        /*:open_kept_join*/left join errata.daily_orders_override as o on array[o.region] = array[k.region]/*.*/
        where r.rollup_id = /*:rollup_id*/1/*.*/
      )
  ) as r
  where r.errata_twin = 1 or /*:unique_rows*/false/*.*/
  group by r.errata_window_start, r.errata_window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/
$errata_open_windows$;

revoke execute on function /*:open_windows*/errata.daily_orders_open_windows/*.*/ from public;
