-- The fold as it was known when a mark was made (R11): by name, so that a report says whose month end it shows. A mark of this
-- rollup goes before one of all. Rows out: as those of `as_of`. Safe to repeat: it reads.
create or replace function /*:as_of_mark*/gold.daily_orders_as_of_mark/*.*/ (mark text)
returns table (
  window_start timestamptz,
  window_end timestamptz,
  local_date date,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  version integer,
  /*:each measure*/ /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/, /*:end*/
  event_count bigint,
  is_void boolean,
  is_corrected boolean,
  sealed_at timestamptz,
  corrected_at timestamptz,
  known_at timestamptz
)
language plpgsql stable
-- a reader needs no right on the marks
security definer
set search_path = pg_catalog, pg_temp
as $errata_as_of_mark$
#variable_conflict use_column
declare
  -- a key may be called mark
  errata_name constant text := mark;
  errata_stamp timestamptz;
begin
  select m.stamp into errata_stamp
  from /*:schema*/errata/*.*/.mark as m
  where m.name = errata_name and (m.rollup_id = /*:rollup_id*/1/*.*/ or m.rollup_id is null);
  if not found then
    raise exception using
      errcode = 'undefined_object',
      message = format('there is no mark %s', quote_nullable(errata_name)),
      hint = '`errata mark` lists them, and makes one';
  end if;
  return query select * from /*:as_of*/gold.daily_orders_as_of/*.*/ (errata_stamp);
end
$errata_as_of_mark$;

-- Like a view it is for those whom it is granted to.
revoke execute on function /*:as_of_mark*/gold.daily_orders_as_of_mark/*.*/ (text) from public;
