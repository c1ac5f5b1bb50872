-- The states that late events had before (R11, R12): a statement of an earlier instant reads those of then. A row whose state
-- never changed has none here. Rows out: none. Safe to repeat: it creates what is missing.
--
-- A row is true from the stamp of `known_from_run_id` on, until that of `until_run_id`. Kept by triggers, since a dozen statements change states,
-- and one that forgot would falsify the past in silence.
create table if not exists /*:past_state*/errata.daily_orders_past_state/*.*/ (
  like /*:late_event*/gold.daily_orders_late_event/*.*/,
  until_run_id bigint not null
);
create index if not exists /*:past_state_by_start*/daily_orders_past_state_by_start/*.*/
  on /*:past_state*/errata.daily_orders_past_state/*.*/ (window_start);

create or replace function /*:date_state*/errata.daily_orders_date_state/*.*/ ()
returns trigger
language plpgsql
as $errata_past$
begin
  -- what no run does leaves no trace here: then a statement no longer is what it was, and `--verify` says so
  new.known_from_run_id := coalesce(nullif(current_setting('errata.run_id', true), '')::bigint, old.known_from_run_id);
  return new;
end
$errata_past$;
revoke execute on function /*:date_state*/errata.daily_orders_date_state/*.*/ () from public;

create or replace function /*:keep_state*/errata.daily_orders_keep_state/*.*/ ()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $errata_past$
declare
  errata_run constant bigint := nullif(current_setting('errata.run_id', true), '')::bigint;
begin
  insert into /*:past_state*/errata.daily_orders_past_state/*.*/ (
    window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition, watermark, landing, state, cause, version,
    released, is_conflict, conflicts_with, quarantine_reason, event_count,
    /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/
    row_digest, first_run_id, state_run_id, state_actor, state_reason, gone_run_id, known_from_run_id, until_run_id
  )
  select
    o.window_start, o.window_end, o.local_date, /*:each key*/ o./*:key*/region/*.*/, /*:end*/
    o.event_id, o.event_time, o.ingested_at, o.arrived_at, o.lateness_seconds, o.source_partition, o.watermark, o.landing, o.state, o.cause, o.version,
    o.released, o.is_conflict, o.conflicts_with, o.quarantine_reason, o.event_count,
    /*:each measure*/ o./*:measure*/revenue/*.*/, /*:end*/
    o.row_digest, o.first_run_id, o.state_run_id, o.state_actor, o.state_reason, o.gone_run_id, o.known_from_run_id, errata_run
  from errata_old as o
  where errata_run is not null
    -- what one run does twice was never seen in between
    and o.known_from_run_id is distinct from errata_run;
  return null;
end
$errata_past$;
revoke execute on function /*:keep_state*/errata.daily_orders_keep_state/*.*/ () from public;

create or replace trigger errata_date_state
before update on /*:late_event*/gold.daily_orders_late_event/*.*/
for each row execute function /*:date_state*/errata.daily_orders_date_state/*.*/ ();

create or replace trigger errata_keep_updated
after update on /*:late_event*/gold.daily_orders_late_event/*.*/
referencing old table as errata_old
for each statement execute function /*:keep_state*/errata.daily_orders_keep_state/*.*/ ();

create or replace trigger errata_keep_deleted
after delete on /*:late_event*/gold.daily_orders_late_event/*.*/
referencing old table as errata_old
for each statement execute function /*:keep_state*/errata.daily_orders_keep_state/*.*/ ();
