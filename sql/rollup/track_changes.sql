-- What the optional trigger on bronze does (DESIGN.md section 2): it notes the keyed windows of deleted and changed rows,
-- as they were and as they are. A statement is noted in one insert, whatever its number of rows, and nothing in here can
-- make it fail, wait or change. TRUNCATE, and detaching or dropping a partition, are retention and fire nothing.
-- Safe to repeat.
create or replace function /*:track_changes*/errata.daily_orders_track_changes/*.*/ ()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $errata_track$
begin
  begin
    if tg_op = 'UPDATE' then
      insert into /*:source_change*/errata.daily_orders_source_change/*.*/ as n (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ since)
      select distinct w.window_start, w.window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ statement_timestamp()
      from (
        select /*:event_time_value*/b.ordered_at/*.*/ as errata_event_time /*:each key*/ , b./*:key*/region/*.*/ /*:end*/ from old_rows as b
        union all
        select /*:event_time_value*/b.ordered_at/*.*/ /*:each key*/ , b./*:key*/region/*.*/ /*:end*/ from new_rows as b
      ) as r
      cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
      where isfinite(r.errata_event_time);
    else
      insert into /*:source_change*/errata.daily_orders_source_change/*.*/ as n (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ since)
      select distinct w.window_start, w.window_end, /*:each key*/ r./*:key*/region/*.*/, /*:end*/ statement_timestamp()
      from (
        select /*:event_time_value*/b.ordered_at/*.*/ as errata_event_time /*:each key*/ , b./*:key*/region/*.*/ /*:end*/ from old_rows as b
      ) as r
      cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
      where isfinite(r.errata_event_time);
    end if;
  exception when others then
    raise warning using
      message = format('errata could not note that rows of %I.%I changed: %s', tg_table_schema, tg_table_name, sqlerrm),
      hint = 'the statement is carried out; name its windows with `errata amend`';
  end;
  return null;
end
$errata_track$;

revoke execute on function /*:track_changes*/errata.daily_orders_track_changes/*.*/ from public;
