-- Notify: name the keyed windows whose published value this run changed, to whoever listens and, where a webhook is set,
-- into the outbox; both in the commit that publishes.
--
-- $1 run_id: bigint
-- $2 stamp: instant of publication
-- $3 rollup: text
-- $4 has_webhook: boolean
--
-- Inputs: pg_temp.errata_change. The notice names at most 1,000 windows; what listeners hear must stay below 8,000 bytes,
-- and names none where they do not fit. Rows out: one a notice; a run that changed no published value gives none.
-- Not repeatable: each run is told of once.
with changed as (
  select c.*
  from pg_temp.errata_change as c
  where c.verdict in ('change', 'emission')
),
notice as (
  select
    jsonb_build_object('rollup', $3::text, 'run_id', $1::bigint::text, 'stamp', $2::timestamptz::text, 'windows_changed', count(*)) as head,
    jsonb_agg(n.named order by n.window_start, n.window_end, n.named ->> 'key') filter (where n.place <= 1000) as windows
  from (
    select
      c.window_start,
      c.window_end,
      row_number() over (order by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/::text collate "C" /*:end*/) as place,
      jsonb_build_object(
        'window_start', c.window_start::text,
        'window_end', c.window_end::text,
        'local_date', c.local_date::text,
        'key', jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/),
        'version', greatest(c.old_version, 1) + 1,
        'is_void', c.is_void,
        'causes', c.causes,
        'measures', '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_object('old', c./*:old_measure*/old_revenue/*.*/::text, 'new', c./*:measure*/revenue/*.*/::text)) /*:end*/
      ) as named
    from changed as c
  ) as n
  having count(*) > 0
),
told as (
  select pg_notify('errata', case when octet_length((n.head || jsonb_build_object('windows', n.windows))::text) < 7900 then (n.head || jsonb_build_object('windows', n.windows))::text else n.head::text end) as said
  from notice as n
),
kept as (
  insert into /*:schema*/errata/*.*/.outbox (run_id, notice)
  select $1::bigint, n.head || jsonb_build_object('windows', n.windows)
  from notice as n
  where $4::boolean
)
select count(t.said) as notices from told as t
