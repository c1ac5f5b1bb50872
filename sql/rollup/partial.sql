-- Partials: the measures of each keyed window over its rows in one ingestion partition that is closed, kept as an option so
-- that a long window is not read whole again (R20). Nothing is lost with them: a run makes them anew from bronze.
-- Safe to repeat.
create table if not exists /*:partial*/errata.daily_orders_partial/*.*/ (
  -- 0: bronze rows of the keyed window were deleted or changed; from then on it is read whole
  relation_id oid not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  /*:each measure*/ /*:measure*/revenue/*.*/ /*:measure_type*/numeric/*.*/, /*:end*/
  event_count bigint not null,
  -- rows that it leaves out since they are copies (R5)
  copies bigint not null
);
create index if not exists /*:partial_by_key*/daily_orders_partial_by_key/*.*/
  on /*:partial*/errata.daily_orders_partial/*.*/ (window_start /*:each key*/ , (array[/*:key*/region/*.*/]) /*:end*/);
create index if not exists /*:partial_by_partition*/daily_orders_partial_by_partition/*.*/
  on /*:partial*/errata.daily_orders_partial/*.*/ (relation_id);

-- Of which ingestion partitions there are partials, and of what content.
create table if not exists /*:partial_partition*/errata.daily_orders_partial_partition/*.*/ (
  relation_id oid primary key,
  -- its counters, size and file, from before the snapshot that they are of; null where somebody wrote to it meanwhile
  content text,
  -- a measure of it could not be computed (R19): it is read, and not tried again while the content is the same
  is_failed boolean not null,
  run_id bigint not null
);
