-- The ledger defends itself (R8): nothing changes or deletes a version, a run may only add, and a stream may only
-- write version 1. Safe to repeat.
--
-- The triggers are `enable always`: session_replication_role does not switch them off. Whoever may alter the table can
-- drop or disable them; what is changed then is found by the hashes (R21).

-- UPDATE, DELETE and TRUNCATE, of versions and of their hashes.
create or replace function /*:refuse_change*/errata.daily_orders_refuse_change/*.*/ ()
returns trigger
language plpgsql
as $errata_guard$
begin
  raise exception using
    errcode = 'integrity_constraint_violation',
    message = format('%s of %s is refused', lower(tg_op), tg_argv[0]),
    detail = format('%I.%I is only appended to: version 1 is what shipped, and later versions come beside it', tg_table_schema, tg_table_name),
    hint = 'to correct a number, let `errata run` append a version';
end
$errata_guard$;

create or replace trigger errata_refuse_change
before update or delete on /*:ledger*/gold.daily_orders/*.*/
for each row execute function /*:refuse_change*/errata.daily_orders_refuse_change/*.*/ ('a published version');

create or replace trigger errata_refuse_truncate
before truncate on /*:ledger*/gold.daily_orders/*.*/
for each statement execute function /*:refuse_change*/errata.daily_orders_refuse_change/*.*/ ('a published version');

create or replace trigger errata_refuse_change
before update or delete on /*:evidence*/errata.daily_orders_evidence/*.*/
for each row execute function /*:refuse_change*/errata.daily_orders_refuse_change/*.*/ ('the hash of a published version');

create or replace trigger errata_refuse_truncate
before truncate on /*:evidence*/errata.daily_orders_evidence/*.*/
for each statement execute function /*:refuse_change*/errata.daily_orders_refuse_change/*.*/ ('the hash of a published version');

-- The greatest instant that was stamped or settled, in microseconds since 1970. A sequence is read as it is now, not as of
-- the snapshot: a stream under repeatable read, begun before a run, still stamps after it (R11).
create sequence if not exists /*:last_stamp*/errata.daily_orders_last_stamp/*.*/;

-- A row without a run comes from the stream: it is version 1, or it is kept beside the ledger, or it is a retry.
-- Its plans outlive what the planner knew: of a ledger that was analysed while it was empty it would read all rows for each, and
-- 11,520 rows took 11 s. Without the sequential scan; and without compiling what that makes dear on paper.
create or replace function /*:accept_seal*/errata.daily_orders_accept_seal/*.*/ ()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $errata_guard$
declare
  errata_rollup /*:schema*/errata/*.*/.rollup;
  errata_window record;
  errata_known /*:ledger*/gold.daily_orders/*.*/;
  errata_last /*:emission*/errata.daily_orders_emission/*.*/;
  errata_place tid;
  errata_stamp timestamptz;
begin
  select r.* into strict errata_rollup from /*:schema*/errata/*.*/.rollup as r where r.rollup_id = /*:rollup_id*/1/*.*/;
  if errata_rollup.dropped_at is not null then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = format('rollup "%s" was dropped', errata_rollup.name),
      detail = 'its ledger stays as it is, and takes nothing more';
  end if;
  if errata_rollup.seal_by <> 'stream' then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'a version without a run is refused',
      detail = format('rollup "%s" is sealed by %s, not by the stream', errata_rollup.name, errata_rollup.seal_by),
      hint = 'set "seal: { by: stream }" if the stream writes version 1';
  end if;
  if new.version <> 1 or new.kind <> 'seal' or new.is_void then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'a stream may only insert version 1',
      detail = format('the row says version %s, kind %s', new.version, new.kind),
      hint = 'leave out version, kind and is_void: their defaults are right';
  end if;
  -- the window that starts there, else the one it lies in, so that the message can name it
  select w.* into errata_window
  from /*:windows*/errata.daily_orders_windows/*.*/ (new.window_start) as w
  order by w.window_start desc
  limit 1;
  if /*:is_no_window*/(errata_window.window_start, errata_window.window_end) is distinct from (new.window_start, new.window_end)/*.*/ then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'the row names a window that this rollup does not have',
      detail = format('[%s, %s) was inserted; the rollup has [%s, %s)', new.window_start, new.window_end, errata_window.window_start, errata_window.window_end),
      hint = 'the stream and errata.yaml must cut windows alike';
  end if;

  -- Taken before the stamp: a run that settles an instant looks for such locks, whose second number says since when
  -- a version may be on its way (R11).
  perform pg_advisory_xact_lock_shared(/*:stream_lock*/7431/*.*/, floor(extract(epoch from clock_timestamp()))::integer);
  select greatest(clock_timestamp(), 'epoch'::timestamptz + (s.last_value + 1) * interval '1 microsecond') into strict new.stamp
  from /*:last_stamp*/errata.daily_orders_last_stamp/*.*/ as s;

  new.local_date := errata_window.local_date;
  new.causes := '{}';
  new.db_role := session_user;
  -- nobody published or approved it
  new.actor := null;
  new.reason := null;
  new.approver := null;
  new.posting_period := null;
  new.replaces := null;
  new.corrected_at := null;
  new.definition_fingerprint := errata_rollup.definition_fingerprint;
  new.event_count := coalesce(new.event_count, /*:event_count_measure*/null::bigint/*.*/);

  -- Asked so that the index by window and key alone serves it, however empty the ledger was when this was planned: with `=` of
  -- start, end and key the first 10,000 keys of one window took 29 s, each reading all before it, and the next 1.2 s.
  -- Of a keyed window that has versions nothing waits. One that has none: one emission at a time, since two retries at once
  -- must not both think they are the first, and a run that publishes into it puts the same row there until it commits
  -- (claim.sql). An advisory lock for each keyed window, as an alternative, ends with "out of shared memory" at some 40,000
  -- rows in a transaction.
  for errata_round in 1 .. 2 loop
    select g.* into errata_known
    from /*:ledger*/gold.daily_orders/*.*/ as g
    where g.window_start = new.window_start
      /*:each key*/ and array[g./*:key*/region/*.*/] = array[new./*:key*/region/*.*/] /*:end*/
      and g.window_end is not distinct from new.window_end
    order by g.version
    limit 1;
    exit when errata_known.version is not null or errata_round = 2;
    insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since)
    values (new.window_start, new.window_end, /*:each key*/ new./*:key*/region/*.*/, /*:end*/ 'seal', new.stamp)
    on conflict do nothing
    returning q.ctid into errata_place;
  end loop;

  -- read anew: a run may have published while this insert waited
  select greatest(new.stamp, 'epoch'::timestamptz + (s.last_value + 1) * interval '1 microsecond') into strict errata_stamp
  from /*:last_stamp*/errata.daily_orders_last_stamp/*.*/ as s;
  if errata_stamp > new.stamp then
    new.stamp := errata_stamp;
    update /*:touched*/errata.daily_orders_touched/*.*/ as q set since = new.stamp where q.ctid = errata_place
    returning q.ctid into errata_place;
  end if;
  new.sealed_at := new.stamp;
  if errata_known.version is null then
    return new;
  end if;
  delete from /*:touched*/errata.daily_orders_touched/*.*/ as q where q.ctid = errata_place;

  -- What the stream said last of this keyed window: a retry of it is absorbed.
  select e.* into errata_last
  from /*:emission*/errata.daily_orders_emission/*.*/ as e
  where e.window_start = new.window_start
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[new./*:key*/region/*.*/] /*:end*/
    and e.window_end is not distinct from new.window_end
  order by e.emission_id desc
  limit 1;
  if found then
    if true /*:each measure*/ and errata_last./*:measure*/revenue/*.*/ is not distinct from new./*:measure*/revenue/*.*/ /*:end*/ then
      return null;
    end if;
  elsif errata_known.version = 1
    /*:each measure*/ and errata_known./*:measure*/revenue/*.*/ is not distinct from new./*:measure*/revenue/*.*/ /*:end*/
  then
    return null;
  end if;

  insert into /*:emission*/errata.daily_orders_emission/*.*/ as e (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ /*:each measure*/ /*:measure*/revenue/*.*/, /*:end*/ event_count, kind, received_at
  )
  values (
    new.window_start, new.window_end, /*:each key*/ new./*:key*/region/*.*/, /*:end*/ /*:each measure*/ new./*:measure*/revenue/*.*/, /*:end*/
    new.event_count, case when errata_known.version = 1 then 'later_emission' else 'late_seal' end, new.stamp
  );
  if errata_known.version = 1 then
    insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since)
    values (new.window_start, new.window_end, /*:each key*/ new./*:key*/region/*.*/, /*:end*/ 'stream_emission', new.stamp)
    on conflict do nothing;
  end if;
  return null;
end
$errata_guard$;

create or replace trigger errata_accept_seal
before insert on /*:ledger*/gold.daily_orders/*.*/
for each row when (new.run_id is null)
execute function /*:accept_seal*/errata.daily_orders_accept_seal/*.*/ ();

-- Rows that name a run: the run must be publishing in this very transaction, and versions count up without a gap. Rows of
-- the stream: hashed as they were stored (R21), under settings of the function's own since a measure may be of any type.
create or replace function /*:check_versions*/errata.daily_orders_check_versions/*.*/ ()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $errata_guard$
declare
  errata_wrong record;
begin
  select i.run_id into errata_wrong
  from inserted as i
  where i.run_id is not null
    and not exists (
      select from /*:schema*/errata/*.*/.run as r
      where r.run_id = i.run_id
        and r.rollup_id = /*:rollup_id*/1/*.*/
        -- numbers of transactions begin anew in a restored database; a run that has ended publishes nothing
        and r.outcome = 'running'
        and r.publishing_transaction = pg_current_xact_id_if_assigned()
    )
  limit 1;
  if found then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'a version that names a run is only accepted from that run',
      detail = format('run %s is not publishing in this transaction', errata_wrong.run_id),
      hint = 'let `errata run` append versions';
  end if;

  select i.window_start, i.window_end, i.version into errata_wrong
  from inserted as i
  where i.version > 2
    and not exists (
      select from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = i.window_start
        and g.window_end is not distinct from i.window_end
        /*:each key*/ and array[g./*:key*/region/*.*/] = array[i./*:key*/region/*.*/] /*:end*/
        and g.version = i.version - 1
    )
  limit 1;
  if found then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'versions count up without a gap',
      detail = format('[%s, %s) has no version %s before version %s', errata_wrong.window_start, errata_wrong.window_end, errata_wrong.version - 1, errata_wrong.version),
      hint = 'let `errata run` append versions';
  end if;

  -- Where nothing had shipped the first version is 2, and no version 1 is forged after it (R9). A stream's row was
  -- looked up when it came.
  select i.window_start, i.window_end into errata_wrong
  from inserted as i
  where i.version = 1
    and i.run_id is not null
    and exists (
      select from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = i.window_start
        /*:each key*/ and array[g./*:key*/region/*.*/] = array[i./*:key*/region/*.*/] /*:end*/
        and g.version = 2
        and g.window_end is not distinct from i.window_end
    )
  limit 1;
  if found then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'a version 1 after version 2 is refused',
      detail = format('[%s, %s) was corrected where nothing had shipped: its versions begin with 2', errata_wrong.window_start, errata_wrong.window_end),
      hint = 'let `errata run` append versions';
  end if;

  insert into /*:unchained*/errata.daily_orders_unchained/*.*/ as u (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ version, row_hash)
  select g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version, /*:row_hash*/sha256(convert_to(g::text, 'UTF8'))/*.*/
  from inserted as g
  where g.run_id is null;
  return null;
end
$errata_guard$;

create or replace trigger errata_check_versions
after insert on /*:ledger*/gold.daily_orders/*.*/
referencing new table as inserted
for each statement execute function /*:check_versions*/errata.daily_orders_check_versions/*.*/ ();

alter table /*:ledger*/gold.daily_orders/*.*/
  enable always trigger errata_refuse_change,
  enable always trigger errata_refuse_truncate,
  enable always trigger errata_accept_seal,
  enable always trigger errata_check_versions;
alter table /*:evidence*/errata.daily_orders_evidence/*.*/
  enable always trigger errata_refuse_change,
  enable always trigger errata_refuse_truncate;

revoke execute on function /*:refuse_change*/errata.daily_orders_refuse_change/*.*/ from public;
revoke execute on function /*:accept_seal*/errata.daily_orders_accept_seal/*.*/ from public;
revoke execute on function /*:check_versions*/errata.daily_orders_check_versions/*.*/ from public;
