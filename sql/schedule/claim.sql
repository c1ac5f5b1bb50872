-- The run answers these moments in its own commit. Rows out: one; none where
-- another run has answered the last of them.
--
-- $1 rollup_id: integer
-- $2 due_at, $3 first_due_at: instants
-- $4 missed, $5 run_id: bigint
--
-- Safe to repeat.
insert into /*:schema*/errata/*.*/.due_moment (rollup_id, due_at, first_due_at, missed, run_id)
values ($1::integer, $2::timestamptz, $3::timestamptz, $4::bigint, $5::bigint)
on conflict (rollup_id, due_at) do nothing
returning due_at::text as due_at
