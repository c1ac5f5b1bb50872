-- Sessions as the loop has them, into their table: those that are new, or whose bounds have moved.
-- Side effect: pg_temp.errata_session_moved gets the bounds that a session of an earlier run had before this one.
create or replace function /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
  rows_key_id bigint, ids bigint[], starts timestamptz[], ends timestamptz[], due boolean[], moved boolean[], current_run_id bigint
)
returns void
language plpgsql
set search_path = ''
as $errata_sessions$
begin
  insert into pg_temp.errata_session_moved (session_id, window_start, window_end)
  select s.session_id, s.window_start, s.window_end
  from /*:session*/errata.daily_orders_session/*.*/ as s
  where s.session_id = any (ids) and s.run_id <> current_run_id
  on conflict do nothing;
  insert into /*:session*/errata.daily_orders_session/*.*/ as s (session_id, key_id, window_start, window_end, is_seal_due, run_id)
  overriding system value
  select h.session_id, rows_key_id, h.window_start, h.window_end, h.is_due, current_run_id
  from unnest(ids, starts, ends, due, moved) as h (session_id, window_start, window_end, is_due, is_moved)
  where h.is_moved
  on conflict (session_id) do update set window_start = excluded.window_start, window_end = excluded.window_end;
  insert into /*:session_part*/errata.daily_orders_session_part/*.*/ (session_id, part_id)
  select h.session_id, h.session_id
  from unnest(ids, moved) as h (session_id, is_moved)
  where h.is_moved
  on conflict do nothing;
end
$errata_sessions$;

revoke execute on function /*:write_sessions*/errata.daily_orders_write_sessions/*.*/ (
  bigint, bigint[], timestamptz[], timestamptz[], boolean[], boolean[], bigint
) from public;
