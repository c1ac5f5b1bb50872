-- The bronze table of the git history; events.csv.gz fills it.
create schema if not exists bronze;

create table bronze.changes (
  event_id text not null,
  folder text not null,
  event_time timestamptz not null,
  ingested_at timestamptz not null,
  files integer not null,
  insertions integer not null,
  deletions integer not null
);

comment on table bronze.changes is 'The commits of github.com/git/git, one row a commit and top folder. Made by examples/git/bronze.sql.';

create index on bronze.changes (folder, event_time);
