-- The work tables of a run over sessions, beside those of work.sql. They live until its commit.

-- New rows that may join a session: the watermark that judges each, the one that seals at its time, its allowed lateness,
-- the watermark that sealed its key in earlier runs, and whether the stream says that it refused it.
create temp table errata_arrived on commit drop as
select
  r.*,
  null::timestamptz as errata_watermark,
  null::timestamptz as errata_combined,
  null::interval as errata_lateness,
  null::timestamptz as errata_sealed_before,
  null::boolean as errata_is_refused
from /*:source*/errata.daily_orders_source/*.*/ () as r
where false;
alter table errata_arrived add column errata_place bigint generated always as identity;

-- The same as the loop wants them. `twin_of`: an equal id of the same instant that goes first.
create temp table errata_arrival (
  place bigint primary key,
  key_id bigint not null,
  event_id text not null,
  row_digest uuid not null,
  event_time timestamptz not null,
  at timestamptz not null,
  watermark timestamptz not null,
  combined timestamptz not null,
  lateness interval not null default interval '0',
  sealed_before timestamptz,
  is_refused boolean not null default false,
  has_twin boolean not null default false,
  twin_of bigint
) on commit drop;

-- Rows whose id a later row bears too: those in sessions or refused before this run, and those that this run has folded.
create temp table errata_twin (
  key_id bigint not null,
  event_id text not null,
  row_digest uuid not null,
  event_time timestamptz not null,
  session_id bigint,
  place bigint
) on commit drop;

create temp table errata_joined (
  place bigint not null,
  session_id bigint,
  landing text not null,
  is_late boolean not null
) on commit drop;

-- The bounds that open sessions of earlier runs had before this one moved them.
create temp table errata_session_moved (
  session_id bigint primary key,
  window_start timestamptz not null,
  window_end timestamptz not null
) on commit drop;

create temp table errata_session_copy (
  place bigint not null,
  row_digest uuid not null,
  session_id bigint,
  window_start timestamptz not null,
  window_end timestamptz not null
) on commit drop;

-- Rows of a session whose id another of its rows bears too.
create temp table errata_repeated (
  session_id bigint not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  key_id bigint not null,
  event_id text not null,
  row_digest uuid not null
) on commit drop;

-- Sessions to seal or to recompute, and the rows that they count.
create temp table errata_session_target (
  target text not null,
  session_id bigint not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  -- how many rows of it are recorded
  recorded bigint not null default 0
) on commit drop;

create temp table errata_session_member (
  target text not null,
  session_id bigint not null,
  event_id text not null,
  row_digest uuid not null
) on commit drop;

create temp table errata_session_value on commit drop as
select ''::text as target, 0::bigint as session_id, 0::bigint as found, 0::bigint as event_count /*:each measure*/ , g./*:measure*/revenue/*.*/ /*:end*/
from /*:ledger*/gold.daily_orders/*.*/ as g
where false;
