-- Sessions, and which of them a row joined: recorded when the row is examined, never derived from bounds (R6s).
-- Safe to repeat: it creates what is missing.

-- Each combination of key values once, so that the loop over the rows of a key compares numbers.
create table if not exists /*:session_key*/errata.daily_orders_session_key/*.*/ (
  key_id bigint generated always as identity primary key,
  /*:each key*/ /*:key*/region/*.*/ /*:key_type*/text/*.*/, /*:end*/
  -- a rollup without a key has one row here
  is_key boolean not null default true,
  constraint /*:session_key_once*/daily_orders_session_key_once/*.*/ unique nulls not distinct (/*:each key*/ /*:key*/region/*.*/, /*:end*/ is_key)
);

create table if not exists /*:session*/errata.daily_orders_session/*.*/ (
  session_id bigint generated always as identity primary key,
  key_id bigint not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  -- the watermark had not reached the end when it arose, and its version 1 is still to be written
  is_seal_due boolean not null,
  -- the session that took its rows over, when a row joined it after its end: extended, bridged or merged
  replaced_by bigint,
  replaced_cause text,
  replaced_run_id bigint,
  run_id bigint not null
);
-- Every session of a key that a row may touch; ends first, since rows arrive late rarely.
create index if not exists /*:session_by_key*/daily_orders_session_by_key/*.*/
  on /*:session*/errata.daily_orders_session/*.*/ (key_id, window_end, window_start) where replaced_by is null;
create index if not exists /*:session_due*/daily_orders_session_due/*.*/
  on /*:session*/errata.daily_orders_session/*.*/ (window_end) where is_seal_due;
create index if not exists /*:session_replaced*/daily_orders_session_replaced/*.*/
  on /*:session*/errata.daily_orders_session/*.*/ (replaced_by) where replaced_by is not null;

create index if not exists /*:session_replaced_by_run*/daily_orders_session_replaced_by_run/*.*/
  on /*:session*/errata.daily_orders_session/*.*/ (replaced_run_id) where replaced_run_id is not null;

-- A row joined one session, and stays recorded there when that session is replaced. The row is known by its event id and
-- the digest of its mapped columns; copies join none (R5).
create table if not exists /*:session_row*/errata.daily_orders_session_row/*.*/ (
  key_id bigint not null,
  event_id text not null,
  row_digest uuid not null,
  session_id bigint not null,
  -- it joined after the session's end, so version 1 does not count it (R8)
  is_late boolean not null,
  -- from this session on it is a copy: the session joined two rows with one id (R5)
  copy_since bigint,
  primary key (key_id, event_id, row_digest)
);
-- For tables made before that could be told.
alter table /*:session_row*/errata.daily_orders_session_row/*.*/ add column if not exists copy_since bigint;
create index if not exists /*:session_row_by_session*/daily_orders_session_row_by_session/*.*/
  on /*:session_row*/errata.daily_orders_session_row/*.*/ (session_id);

-- A session counts the rows of its parts: itself, and the sessions that it replaced.
create table if not exists /*:session_part*/errata.daily_orders_session_part/*.*/ (
  session_id bigint not null,
  part_id bigint not null,
  primary key (session_id, part_id)
);
create index if not exists /*:session_part_of*/daily_orders_session_part_of/*.*/
  on /*:session_part*/errata.daily_orders_session_part/*.*/ (part_id);
