-- What the database says of one SQL expression over bronze, held for a moment by a temporary view: its type, the
-- columns and functions it uses, and whether its whole is one aggregate call. Rows out: one.
--
-- $1 view: oid of the view, whose last column is the expression
with rule as (
  select r.oid, r.ev_action::text as tree
  from pg_catalog.pg_rewrite as r
  where r.ev_class = $1::oid
),
aggregate as (
  select p.proname, p.proargtypes, (array_position(p.proargtypes::oid[], 700) is not null or array_position(p.proargtypes::oid[], 701) is not null) as takes_float
  from rule as r
  cross join lateral regexp_matches(r.tree, ':aggfnoid (\d+)', 'g') as m (id)
  join pg_catalog.pg_proc as p on p.oid = m.id[1]::oid
),
called as (
  select p.oid::regprocedure::text as name, p.proname, p.pronamespace, p.pronargs, p.provolatile
  from rule as r
  cross join lateral regexp_matches(r.tree, ':(?:funcid|opfuncid|aggfnoid) (\d+)', 'g') as m (id)
  join pg_catalog.pg_proc as p on p.oid = m.id[1]::oid
)
select
  (
    select format_type(a.atttypid, a.atttypmod)
    from pg_catalog.pg_attribute as a
    where a.attrelid = $1::oid and a.attnum > 0
    order by a.attnum desc
    limit 1
  ) as result_type,
  (
    select a.atttypid::text
    from pg_catalog.pg_attribute as a
    where a.attrelid = $1::oid and a.attnum > 0
    order by a.attnum desc
    limit 1
  ) as result_type_id,
  (
    select array_agg(distinct a.attname::text order by a.attname::text)
    from rule as r
    join pg_catalog.pg_depend as d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjsubid > 0 and d.refobjid <> $1::oid
    join pg_catalog.pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  ) as columns,
  (select exists (select from aggregate)) as is_aggregate,
  (
    select exists (
      select from aggregate as a
      where a.takes_float and a.proname ~ '^(sum|avg|var|stddev|corr|covar|regr)'
    )
  ) as sums_floats,
  (select array_agg(distinct c.name) from called as c where c.provolatile = 'v') as volatile_functions,
  -- a name in the tree that holds a brace bears a backslash before it
  (select r.tree ~ '(^|[^\\])[{]SUBLINK ' from rule as r) as has_subquery,
  (
    select r.tree ~ '(^|[^\\])[{]SQLVALUEFUNCTION ' or exists (
      select from called as c
      where c.pronamespace = 'pg_catalog'::regnamespace
        and (
          c.proname in (
            'now', 'statement_timestamp', 'transaction_timestamp', 'clock_timestamp', 'timeofday', 'current_setting',
            'txid_current', 'txid_current_if_assigned', 'txid_current_snapshot',
            'pg_current_xact_id', 'pg_current_xact_id_if_assigned', 'pg_current_snapshot'
          )
          or (c.proname = 'age' and c.pronargs = 1)
        )
    )
    from rule as r
  ) as reads_clock,
  (
    select p.proname
    from rule as r
    cross join lateral regexp_match(r.tree, '\{TARGETENTRY :expr \{AGGREF :aggfnoid (\d+)') as m (id)
    join pg_catalog.pg_proc as p on p.oid = m.id[1]::oid
    where r.tree ~ ':aggdistinct <>'
  ) as whole_aggregate,
  (
    select r.tree ~ '\{TARGETENTRY :expr \{AGGREF :aggfnoid 2803 ' and r.tree ~ ':aggfilter <>'
    from rule as r
  ) as is_count_of_rows
