-- The total of one window and key as a job beside Errata keeps it: no versions, no names, one row a keyed window.
create table bench.totals (
  window_start timestamptz not null,
  region text not null,
  orders bigint not null,
  revenue numeric not null,
  primary key (window_start, region)
)
