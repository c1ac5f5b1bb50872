-- The hash of each published version, and the run whose link of the chain covers it (R21). Written once, by that run.
-- Safe to repeat.
create table if not exists /*:evidence*/errata.daily_orders_evidence/*.*/ (
  run_id bigint not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  version integer not null,
  row_hash bytea not null
);

-- Versions that a stream inserted, hashed in its own transaction, until a run takes them into its link.
create table if not exists /*:unchained*/errata.daily_orders_unchained/*.*/ (
  window_start timestamptz not null,
  window_end timestamptz not null,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  version integer not null,
  row_hash bytea not null
);
