-- The stream's log of watermarks, for a rollup whose strategy is `recorded` and that names no log of its own (R2). The
-- stream inserts; Errata reads. Safe to repeat: it creates what is missing.
create table if not exists /*:watermark_log*/gold.daily_orders_watermark_log/*.*/ (
  source_partition text,
  at timestamptz not null default clock_timestamp(),
  watermark timestamptz,
  idle boolean not null default false,
  dropped bigint
);
-- For tables made before drops could be counted.
alter table /*:watermark_log*/gold.daily_orders_watermark_log/*.*/ add column if not exists dropped bigint;
create index if not exists /*:watermark_log_by_time*/daily_orders_watermark_log_by_time/*.*/
  on /*:watermark_log*/gold.daily_orders_watermark_log/*.*/ (at);
