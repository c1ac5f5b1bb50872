-- Sessions are built per key, by gap, in the order of ingestion (R6s). What a row joins depends on what the rows before
-- it joined, so this is a loop, over the rows of the keys that have new ones; SQL around it works on sets.
--
-- frontier: rows before it are stragglers; regroups: the policy publishes refused rows by itself.
--
-- Where allowed latenesses differ, a session may be joined by the rows of one instant while the greatest of theirs lasts,
-- and each row is refused by its own.
--
-- Inputs: pg_temp.errata_arrival. Side effects: the tables of sessions; pg_temp.errata_joined gets each row's session and
-- landing. A session that the watermark has not passed is changed in place; one that it has passed keeps its bounds, and
-- a row that would change them makes a new session, which replaces it.
--
-- The sessions of the key that may still be joined stand in arrays, and most rows cost no statement: they are written when
-- the key is done, or when something has to be looked up.
create or replace function /*:fold_sessions*/errata.daily_orders_fold_sessions/*.*/ (
  frontier timestamptz, regroups boolean, current_run_id bigint
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
  numbers constant regclass := pg_get_serial_sequence('/*:session*/errata.daily_orders_session/*.*/', 'session_id');
  -- sessions that no row of this run may join are left in their table
  widest constant interval := (select max(a.lateness) from pg_temp.errata_arrival as a);
  arrived record;
  folded_key_id bigint;
  passed timestamptz;
  rows_at_once integer;
  -- the live sessions of the key; due: the watermark had not reached the end when it arose
  live integer := 0;
  ids bigint[] := '{}';
  starts timestamptz[] := '{}';
  ends timestamptz[] := '{}';
  due boolean[] := '{}';
  -- it is new, or its bounds have moved, and the table does not know it yet
  moved boolean[] := '{}';
  -- sessions that were live, and are still to be written
  parted integer := 0;
  parted_ids bigint[] := '{}';
  parted_starts timestamptz[] := '{}';
  parted_ends timestamptz[] := '{}';
  parted_due boolean[] := '{}';
  -- of each live session and each row of the instant: the group it falls into; 0: none
  session_groups integer[];
  row_groups integer[];
  groups integer;
  group_starts timestamptz[];
  group_ends timestamptz[];
  group_sizes integer[];
  group_ids bigint[];
  group_late boolean[];
  is_refused boolean[];
  is_settled boolean;
  must_write boolean;
  copied_place bigint[];
  touches boolean;
  last_time timestamptz;
  single integer;
  kept integer;
  original record;
  refused_places bigint[];
  refused_times timestamptz[];
  -- what the rows joined, until it is written
  joined integer := 0;
  joined_places bigint[] := '{}';
  joined_ids bigint[] := '{}';
  joined_landings text[] := '{}';
  joined_late boolean[] := '{}';
begin
  for arrived in
    select
      a.key_id,
      a.at,
      min(a.combined) as combined,
      min(a.sealed_before) as sealed_before,
      max(a.lateness) as lateness,
      array_agg(a.place order by a.event_time, a.place) as places,
      array_agg(a.event_time order by a.event_time, a.place) as times,
      array_agg(a.watermark order by a.event_time, a.place) as watermarks,
      array_agg(a.lateness order by a.event_time, a.place) as latenesses,
      array_agg(a.is_refused and a.twin_of is null order by a.event_time, a.place) as refused,
      array_agg(a.twin_of order by a.event_time, a.place) as twins,
      array_agg(a.has_twin order by a.event_time, a.place) as have_twins,
      bool_or(a.has_twin) as has_twin
    from pg_temp.errata_arrival as a
    group by a.key_id, a.at
    order by a.key_id, a.at
  loop
    rows_at_once := cardinality(arrived.places);

    if folded_key_id is distinct from arrived.key_id then
      if parted > 0 or true = any (moved[1:live]) then
        perform /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
          folded_key_id,
          parted_ids[1:parted] || ids[1:live],
          parted_starts[1:parted] || starts[1:live],
          parted_ends[1:parted] || ends[1:live],
          parted_due[1:parted] || due[1:live],
          array_fill(true, array[parted]) || moved[1:live],
          current_run_id
        );
        parted := 0;
        moved := array_fill(false, array[live]);
      end if;
      folded_key_id := arrived.key_id;
      select
        coalesce(array_agg(s.session_id), '{}'),
        coalesce(array_agg(s.window_start), '{}'),
        coalesce(array_agg(s.window_end), '{}'),
        coalesce(array_agg(s.is_seal_due), '{}'),
        coalesce(array_agg(false), '{}')
      into ids, starts, ends, due, moved
      from /*:session*/errata.daily_orders_session/*.*/ as s
      where s.key_id = folded_key_id
        and s.replaced_by is null
        and s.window_end + widest > arrived.combined;
      live := cardinality(ids);
    end if;
    -- a row behind the frontier finds sessions sealed that the watermark of its own time had not reached
    passed := greatest(arrived.combined, arrived.sealed_before);

    -- Sessions past their end and every allowed lateness are joined no more.
    kept := 0;
    for i in 1 .. live loop
      if ends[i] + widest > arrived.combined then
        kept := kept + 1;
        if kept < i then
          ids[kept] := ids[i];
          starts[kept] := starts[i];
          ends[kept] := ends[i];
          due[kept] := due[i];
          moved[kept] := moved[i];
        end if;
      elsif moved[i] then
        parted := parted + 1;
        parted_ids[parted] := ids[i];
        parted_starts[parted] := starts[i];
        parted_ends[parted] := ends[i];
        parted_due[parted] := due[i];
      end if;
    end loop;
    live := kept;

    is_refused := arrived.refused;
    copied_place := arrived.twins;

    -- Rows of one instant are joined with each other and with the live sessions at once, and judged by the end that
    -- results. A row that is refused by it, as a source partition with a watermark of its own may be, joins nothing.
    -- Where ids are borne twice, what is in the tables has a say first.
    must_write := arrived.has_twin;
    loop
      if must_write then
        if parted > 0 or true = any (moved[1:live]) then
          perform /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
            folded_key_id,
            parted_ids[1:parted] || ids[1:live],
            parted_starts[1:parted] || starts[1:live],
            parted_ends[1:parted] || ends[1:live],
            parted_due[1:parted] || due[1:live],
            array_fill(true, array[parted]) || moved[1:live],
            current_run_id
          );
          parted := 0;
          moved := array_fill(false, array[live]);
        end if;
        must_write := false;
        -- A copy of a row that joined a session which it touches, or that was refused within a gap of it (R5).
        for j in 1 .. rows_at_once loop
          if not arrived.have_twins[j] then continue; end if;
          select t.row_digest, t.session_id, t.window_start, t.window_end into original
          from pg_temp.errata_arrival as a
          join lateral (
            select w.row_digest, s.session_id, coalesce(s.window_start, w.event_time) as window_start, coalesce(s.window_end, w.event_time + gap) as window_end
            from pg_temp.errata_twin as w
            left join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = w.session_id
            left join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id
            where w.key_id = a.key_id
              and w.event_id = a.event_id
              and s.replaced_by is null
              and (w.session_id is null or s.session_id is not null)
          ) as t on t.window_end >= a.event_time and t.window_start <= a.event_time + gap
          where a.place = arrived.places[j]
          order by t.session_id
          limit 1;
          if found then
            copied_place[j] := 0;
            is_refused[j] := false;
            insert into pg_temp.errata_session_copy (place, row_digest, session_id, window_start, window_end)
            values (arrived.places[j], original.row_digest, original.session_id, original.window_start, original.window_end);
          end if;
        end loop;
      end if;

      is_settled := true;
      groups := 0;
      group_starts := '{}';
      group_ends := '{}';
      group_sizes := '{}';
      session_groups := array_fill(0, array[live]);
      row_groups := array_fill(0, array[rows_at_once]);
      last_time := null;
      for j in 1 .. rows_at_once loop
        if is_refused[j] or copied_place[j] is not null then continue; end if;
        touches := last_time is not null and arrived.times[j] - last_time <= gap;
        if groups > 0 and not touches then
          for i in 1 .. live loop
            if session_groups[i] = groups and starts[i] <= arrived.times[j] + gap and ends[i] >= arrived.times[j] and ends[i] + arrived.lateness > arrived.combined then
              touches := true;
            end if;
          end loop;
        end if;
        if not touches then
          groups := groups + 1;
          group_starts[groups] := arrived.times[j];
          group_ends[groups] := arrived.times[j] + gap;
          group_sizes[groups] := 0;
        end if;
        row_groups[j] := groups;
        group_ends[groups] := greatest(group_ends[groups], arrived.times[j] + gap);
        for i in 1 .. live loop
          if session_groups[i] = 0 and starts[i] <= arrived.times[j] + gap and ends[i] >= arrived.times[j] and ends[i] + arrived.lateness > arrived.combined then
            session_groups[i] := groups;
            group_sizes[groups] := group_sizes[groups] + 1;
            group_starts[groups] := least(group_starts[groups], starts[i]);
            group_ends[groups] := greatest(group_ends[groups], ends[i]);
          end if;
        end loop;
        last_time := arrived.times[j];
      end loop;
      for j in 1 .. rows_at_once loop
        if row_groups[j] > 0 and arrived.watermarks[j] >= group_ends[row_groups[j]] + arrived.latenesses[j] then
          is_refused[j] := true;
          is_settled := false;
        end if;
      end loop;
      exit when is_settled;
    end loop;

    group_ids := array_fill(null::bigint, array[groups]);
    group_late := array_fill(false, array[groups]);
    for g in 1 .. groups loop
      single := case when group_sizes[g] = 1 then array_position(session_groups, g) end;
      if single is not null
        and (ends[single] > passed or (starts[single] = group_starts[g] and ends[single] = group_ends[g]))
      then
        group_late[g] := ends[single] <= passed;
        moved[single] := moved[single] or starts[single] <> group_starts[g] or ends[single] <> group_ends[g];
        starts[single] := group_starts[g];
        ends[single] := group_ends[g];
        group_ids[g] := ids[single];
        session_groups[single] := 0;
        continue;
      end if;
      group_ids[g] := nextval(numbers);
      group_late[g] := group_ends[g] <= passed;
      if group_sizes[g] = 0 then continue; end if;
      -- It replaces what it takes over: that has to stand in the tables, and so has it.
      perform /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
        folded_key_id,
        parted_ids[1:parted] || ids[1:live] || group_ids[g],
        parted_starts[1:parted] || starts[1:live] || group_starts[g],
        parted_ends[1:parted] || ends[1:live] || group_ends[g],
        parted_due[1:parted] || due[1:live] || not group_late[g],
        array_fill(true, array[parted]) || moved[1:live] || true,
        current_run_id
      );
      parted := 0;
      moved := array_fill(false, array[live]);
      insert into /*:session_part*/errata.daily_orders_session_part/*.*/ (session_id, part_id)
      select group_ids[g], p.part_id
      from unnest(ids[1:live], session_groups) as h (session_id, in_group)
      join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = h.session_id
      where h.in_group = g;
      update /*:session*/errata.daily_orders_session/*.*/ as s
      set
        -- what was replaced before the watermark reached its end never shipped
        is_seal_due = s.is_seal_due and s.window_end <= passed,
        replaced_by = group_ids[g],
        replaced_cause = case when arrived.at < frontier then 'straggler' else 'late_firing' end,
        replaced_run_id = current_run_id
      from unnest(ids[1:live], session_groups) as h (session_id, in_group)
      where s.session_id = h.session_id and h.in_group = g;
    end loop;

    -- What was replaced leaves the live ones, what is new joins them.
    if groups > 0 then
      kept := 0;
      for i in 1 .. live loop
        if session_groups[i] = 0 then
          kept := kept + 1;
          if kept < i then
            ids[kept] := ids[i];
            starts[kept] := starts[i];
            ends[kept] := ends[i];
            due[kept] := due[i];
            moved[kept] := moved[i];
          end if;
        end if;
      end loop;
      live := kept;
      for g in 1 .. groups loop
        touches := false;
        for i in 1 .. live loop
          if ids[i] = group_ids[g] then touches := true; end if;
        end loop;
        if touches then continue; end if;
        live := live + 1;
        ids[live] := group_ids[g];
        starts[live] := group_starts[g];
        ends[live] := group_ends[g];
        due[live] := not group_late[g];
        moved[live] := group_sizes[g] = 0;
      end loop;
    end if;

    for j in 1 .. rows_at_once loop
      if row_groups[j] > 0 then
        joined := joined + 1;
        joined_places[joined] := arrived.places[j];
        joined_ids[joined] := group_ids[row_groups[j]];
        joined_landings[joined] := case when arrived.watermarks[j] >= group_ends[row_groups[j]] then 'late_firing' else 'open' end;
        joined_late[joined] := group_late[row_groups[j]];
      end if;
    end loop;
    if joined >= 1000 or (arrived.has_twin and joined > 0) then
      insert into pg_temp.errata_joined (place, session_id, landing, is_late)
      select j.place, j.session_id, j.landing, j.is_late
      from unnest(joined_places[1:joined], joined_ids[1:joined], joined_landings[1:joined], joined_late[1:joined]) as j (place, session_id, landing, is_late);
      joined := 0;
    end if;

    if true = any (is_refused) then
      select
        array_agg(r.place order by r.event_time, r.place),
        array_agg(r.event_time order by r.event_time, r.place)
      into refused_places, refused_times
      from unnest(arrived.places, arrived.times, is_refused) as r (place, event_time, is_refused)
      where r.is_refused;
      if regroups then
        if parted > 0 or true = any (moved[1:live]) then
          perform /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
            folded_key_id,
            parted_ids[1:parted] || ids[1:live],
            parted_starts[1:parted] || starts[1:live],
            parted_ends[1:parted] || ends[1:live],
            parted_due[1:parted] || due[1:live],
            array_fill(true, array[parted]) || moved[1:live],
            current_run_id
          );
          parted := 0;
          moved := array_fill(false, array[live]);
        end if;
        perform /*:regroup_sessions*/errata.daily_orders_regroup_sessions/*.*/ (folded_key_id, refused_places, refused_times, passed, false, 'refused', current_run_id);
        select
          coalesce(array_agg(s.session_id), '{}'),
          coalesce(array_agg(s.window_start), '{}'),
          coalesce(array_agg(s.window_end), '{}'),
          coalesce(array_agg(s.is_seal_due), '{}'),
          coalesce(array_agg(false), '{}')
        into ids, starts, ends, due, moved
        from /*:session*/errata.daily_orders_session/*.*/ as s
        where s.key_id = folded_key_id
          and s.replaced_by is null
          and s.window_end + widest > arrived.combined;
        live := cardinality(ids);
      else
        insert into pg_temp.errata_joined (place, session_id, landing, is_late)
        select r.place, null, 'side_output', true
        from unnest(refused_places) as r (place);
      end if;
    end if;

    if arrived.has_twin then
      insert into pg_temp.errata_twin (key_id, event_id, row_digest, event_time, session_id, place)
      select a.key_id, a.event_id, a.row_digest, a.event_time, r.session_id, a.place
      from pg_temp.errata_arrival as a
      join pg_temp.errata_joined as r using (place)
      where a.place = any (arrived.places) and a.has_twin;
    end if;
  end loop;

  if parted > 0 or true = any (moved[1:live]) then
    perform /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
      folded_key_id,
      parted_ids[1:parted] || ids[1:live],
      parted_starts[1:parted] || starts[1:live],
      parted_ends[1:parted] || ends[1:live],
      parted_due[1:parted] || due[1:live],
      array_fill(true, array[parted]) || moved[1:live],
      current_run_id
    );
    parted := 0;
    moved := array_fill(false, array[live]);
  end if;
  insert into pg_temp.errata_joined (place, session_id, landing, is_late)
  select j.place, j.session_id, j.landing, j.is_late
  from unnest(joined_places[1:joined], joined_ids[1:joined], joined_landings[1:joined], joined_late[1:joined]) as j (place, session_id, landing, is_late);
end
$errata_sessions$;

revoke execute on function /*:fold_sessions*/errata.daily_orders_fold_sessions/*.*/ (
  timestamptz, boolean, bigint
) from public;
