-- `errata serve`: which due moments a run has answered, and what waits after a failure. What is due is computed from these,
-- so a restart, a second server or a tick that comes twice or never changes nothing.

-- From when on a schedule of a rollup counts: what was due before it was first seen is nobody's.
create table /*:schema*/errata/*.*/.schedule (
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  cron text not null,
  time_zone text not null,
  since timestamptz not null,
  primary key (rollup_id, cron, time_zone)
);

-- Written in the commit of the run that answers it: a run that was killed leaves none, and the moment is still due.
create table /*:schema*/errata/*.*/.due_moment (
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  -- the last of the moments that this run answers
  due_at timestamptz not null,
  -- and the first of them: earlier than the last where some were missed
  first_due_at timestamptz not null,
  missed bigint not null check (missed >= 0),
  run_id bigint not null unique references /*:schema*/errata/*.*/.run,
  primary key (rollup_id, due_at),
  check (first_due_at <= due_at)
);

-- A rollup whose scheduled runs fail; the run that succeeds deletes its row.
create table /*:schema*/errata/*.*/.back_off (
  rollup_id integer primary key references /*:schema*/errata/*.*/.rollup,
  failures integer not null check (failures > 0),
  failed_at timestamptz not null,
  next_attempt_at timestamptz not null,
  error text not null
);

-- What all runs of a rollup have counted together, kept by the commit of each, so that metrics need no sum over history.
create table /*:schema*/errata/*.*/.run_total (
  rollup_id integer not null references /*:schema*/errata/*.*/.rollup,
  name text not null,
  total numeric not null,
  primary key (rollup_id, name)
);
insert into /*:schema*/errata/*.*/.run_total (rollup_id, name, total)
select r.rollup_id, c.key, sum(c.value::numeric)
from /*:schema*/errata/*.*/.run as r
cross join lateral jsonb_each_text(
  r.counts || jsonb_build_object(case when r.outcome = 'failed' then 'failed_runs' else 'runs' end, 1)
) as c
where r.outcome in ('done', 'attention', 'failed')
  and c.key in (
    'runs', 'failed_runs', 'rows_examined', 'late_firing', 'side_output', 'stragglers', 'quarantined', 'conflicts',
    'windows_sealed', 'windows_corrected', 'windows_proposed'
  )
group by r.rollup_id, c.key;

-- A long row of failures does not lie between a metric and the last success.
create index run_success on /*:schema*/errata/*.*/.run (rollup_id, run_id desc) where outcome in ('done', 'attention');
