-- Refused rows regroup the sessions that they touch: at their own place in the order of ingestion where the policy
-- publishes them by itself; when a person releases them, the sessions then sealed. Rows of one call are joined with each
-- other at once.
--
-- places, times: the rows, in order of event time; passed: the watermark, sessions that end at or before it are past;
-- only_sealed: leave the others alone; cause: of the rows.
-- Side effect: pg_temp.errata_joined gets each row's session.
create or replace function /*:regroup_sessions*/errata.daily_orders_regroup_sessions/*.*/ (
  rows_key_id bigint, places bigint[], times timestamptz[], passed timestamptz, only_sealed boolean, cause text, current_run_id bigint
)
returns void
language plpgsql
set search_path = ''
-- planned while the tables are small, and kept while they grow
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $errata_sessions$
declare
  gap constant interval := /*:session_gap*/interval '1800000000 microseconds'/*.*/;
  touched bigint[];
  group_sessions bigint[];
  group_from integer := 1;
  last_time timestamptz;
  joined_id bigint;
  group_start timestamptz;
  group_end timestamptz;
begin
  for i in 1 .. cardinality(times) + 1 loop
    if i <= cardinality(times) then
      touched := array(
        select s.session_id
        from /*:session*/errata.daily_orders_session/*.*/ as s
        where s.key_id = rows_key_id
          and s.replaced_by is null
          and (s.window_end <= passed or not only_sealed)
          and s.window_end >= times[i]
          and s.window_start <= times[i] + gap
      );
    end if;
    if i > 1 and (i > cardinality(times) or not (times[i] - last_time <= gap or touched && group_sessions)) then
      select least(times[group_from], min(s.window_start)), greatest(last_time + gap, max(s.window_end))
      into group_start, group_end
      from /*:session*/errata.daily_orders_session/*.*/ as s
      where s.session_id = any (group_sessions);
      joined_id := null;
      if cardinality(group_sessions) = 1 then
        select s.session_id into joined_id
        from /*:session*/errata.daily_orders_session/*.*/ as s
        where s.session_id = group_sessions[1] and s.window_start = group_start and s.window_end = group_end;
      end if;
      if joined_id is null then
        insert into /*:session*/errata.daily_orders_session/*.*/ (key_id, window_start, window_end, is_seal_due, run_id)
        values (rows_key_id, group_start, group_end, group_end > passed, current_run_id)
        returning session_id into joined_id;
        insert into /*:session_part*/errata.daily_orders_session_part/*.*/ (session_id, part_id)
        select joined_id, joined_id
        union
        select joined_id, p.part_id
        from /*:session_part*/errata.daily_orders_session_part/*.*/ as p
        where p.session_id = any (group_sessions);
        update /*:session*/errata.daily_orders_session/*.*/ as s
        set
          -- what was replaced before the watermark reached its end never shipped
          is_seal_due = s.is_seal_due and s.window_end <= passed,
          replaced_by = joined_id,
          replaced_cause = cause,
          replaced_run_id = current_run_id
        where s.session_id = any (group_sessions);
      end if;
      insert into pg_temp.errata_joined (place, session_id, landing, is_late)
      select places[n.n], joined_id, 'side_output', group_end <= passed
      from generate_series(group_from, i - 1) as n (n);
      group_from := i;
      group_sessions := '{}';
    end if;
    if i > cardinality(times) then exit; end if;
    if i = 1 then group_sessions := '{}'; end if;
    group_sessions := array(
      select g.id from unnest(group_sessions) as g (id)
      union
      select t.id from unnest(touched) as t (id)
    );
    last_time := times[i];
  end loop;
end
$errata_sessions$;

revoke execute on function /*:regroup_sessions*/errata.daily_orders_regroup_sessions/*.*/ (
  bigint, bigint[], timestamptz[], timestamptz, boolean, text, bigint
) from public;
