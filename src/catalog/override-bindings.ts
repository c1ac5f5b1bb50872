/**
 * What the placeholders for delays and latenesses that differ stand for (R2, R3, R8). Most stand for nothing in a rollup
 * without them, whose SQL is what it would be without this file.
 */
import { joinSql, quoteName, quoteTable, quoteText, type Sql, trustedSql } from '../db/identifiers.ts';
import type { Bindings } from '../db/sql.ts';
import { microseconds } from './describe.ts';
import { relationsOf } from './relations.ts';
import type { Rollup } from './rollup.ts';

export function overrideBindings(rollup: Rollup): Bindings {
  return {
    ...tableBindings(rollup),
    ...columnBindings(rollup),
    ...latenessBindings(rollup),
    ...delayBindings(rollup),
    ...keyBindings(rollup),
  };
}

/** The table itself, and the work table that a run makes of it. */
function tableBindings({ overrides, settings }: Rollup): Bindings {
  const { overrides: chosen } = settings.watermark;
  const columnOf = (name: string) => quoteName(chosen?.by.find((key) => key.name === name)?.column ?? name);
  const span = (name: string | undefined) =>
    trustedSql(name === undefined ? 'null::interval' : `t.${quoteName(name)}`);
  const by = overrides?.by ?? [];
  return {
    override_table: chosen ? quoteTable(chosen.table) : trustedSql('null'),
    override_by: by.map(({ name, type }) => ({
      by: quoteName(name),
      by_type: trustedSql(type),
      by_column: columnOf(name),
    })),
    override_names: joinSql(
      by.map(({ name }) => quoteName(name)),
      ', ',
    ),
    override_index: trustedSql(by.map(({ name }) => `(array[${quoteName(name)}])`).join(', ')),
    override_pairs: joinSql(
      by.map(({ name }) => trustedSql(`${quoteText(name)}, t.${columnOf(name)}::text`)),
      ', ',
    ),
    override_delay: span(chosen?.delay),
    override_lateness: span(chosen?.allowedLateness),
    row_override_join: joinTo(overrides, run, 'r'),
    kept_pairs: joinSql(
      by.map(({ name }) => trustedSql(`${quoteText(name)}, o.${quoteName(name)}::text`)),
      ', ',
    ),
  };
}

/** As this run found them. */
const run = 'pg_temp.errata_override as v';

/** A left join of the overrides to rows `row`; nothing where there are none. */
function joinTo(overrides: Rollup['overrides'], relation: string, row: string): Sql {
  if (!overrides) return trustedSql('');
  const alias = relation.at(-1);
  const columns: Record<string, string> = overrides.isByKey
    ? {}
    : { r: 'errata_source_partition', t: 'source_partition' };
  const tests = overrides.by.map(
    ({ name }) => `array[${alias}.${quoteName(name)}] = array[${row}.${columns[row] ?? quoteName(name)}]`,
  );
  return trustedSql(`left join ${relation} on ${tests.join(' and ')}`);
}

/** Columns in which each row of bronze carries its own; what is no span of time says nothing. */
function columnBindings({ settings }: Rollup): Bindings {
  const { watermark, allowedLatenessColumn } = settings;
  const columns = [
    ['errata_delay', watermark.delayColumn],
    ['errata_allowed_lateness', allowedLatenessColumn],
  ].flatMap(([name, column]) => (column === undefined ? [] : [[name, `b.${quoteName(column)}`] as const]));
  return {
    span_columns: trustedSql(columns.map(([name]) => `, ${name} interval`).join('')),
    span_names: trustedSql(columns.map(([name]) => `, r.${name}`).join('')),
    span_values: trustedSql(
      columns
        .map(([, value]) => `, case when isfinite(${value}) and ${value} >= interval '0' then ${value} end`)
        .join(''),
    ),
  };
}

function latenessBindings(rollup: Rollup): Bindings {
  const { overrides, settings } = rollup;
  const kept = relationsOf(rollup).override;
  const own = settings.allowedLatenessColumn
    ? 'r.errata_allowed_lateness'
    : overrides?.hasLateness
      ? 'v.errata_allowed_lateness'
      : undefined;
  const byKey = overrides?.hasLateness && overrides.isByKey;
  return {
    row_lateness: trustedSql(own ? `coalesce(${own}, $9::interval)` : '$9::interval'),
    fold_override_join: overrides?.isByKey ? joinTo(overrides, `${kept} as o`, 'f') : trustedSql(''),
    known_lateness: trustedSql(
      byKey
        ? 'coalesce(o.errata_allowed_lateness, r.allowed_lateness)'
        : overrides?.hasLateness
          ? `greatest(r.allowed_lateness, (select max(o.errata_allowed_lateness) from ${kept} as o))`
          : 'r.allowed_lateness',
    ),
  };
}

/**
 * R2: what a row is judged by under `fixed_delay`, and what it moves its own source partition's watermark to. With a delay
 * in each row what has sealed judges it too, so that a greater delay than any before finds no window open that is sealed.
 */
function delayBindings({ overrides, settings, schema }: Rollup): Bindings {
  const { strategy, delay, delayColumn } = settings.watermark;
  const isFixed = strategy === 'fixed_delay';
  const [ofRow, ofFixed] = delayColumn ? [!isFixed, isFixed] : [false, false];
  const bySource = overrides?.hasDelay && !overrides.isByKey;
  const only = (isTrue: boolean, sql: string) => trustedSql(isTrue ? sql : '');
  const steps = `${quoteName(schema)}.watermark_step`;
  const place = 'width_bucket(r.errata_arrived_at, d.in_force_from)';
  const seenAt = 'width_bucket(r.errata_ingested_at, d.in_force_from)';
  const fixed = ofFixed
    ? `greatest(r.errata_arrived_at - coalesce(r.errata_delay, $11::interval), d.watermarks[${place}], r.errata_arrived_at - greatest(d.delays[${place}], $11::interval))`
    : `r.errata_arrived_at - ${overrides?.hasDelay ? 'coalesce(v.errata_delay, $11::interval)' : '$11::interval'}`;
  return {
    fixed_watermark: trustedSql(fixed),
    fixed_combined: trustedSql(
      ofFixed
        ? `greatest(d.watermarks[${seenAt}], r.errata_ingested_at - greatest(d.delays[${seenAt}], $13::interval))`
        : overrides?.hasDelay && overrides.isByKey
          ? 'r.errata_ingested_at - coalesce(v.errata_delay, $13::interval)'
          : 'r.errata_ingested_at - $13::interval',
    ),
    moved_to: trustedSql(
      ofRow
        ? 't.greatest'
        : bySource
          ? 't.greatest - coalesce(v.errata_delay, $8::interval)'
          : 't.greatest - $8::interval',
    ),
    telling_override_join: bySource ? joinTo(overrides, run, 't') : trustedSql(''),
    new_row_delay: only(ofRow || ofFixed, ', n.delay'),
    source_delay: only(ofRow || ofFixed, ', r.errata_delay as delay'),
    moving_to: trustedSql(ofRow ? 'n.event_time - coalesce(n.delay, $8::interval)' : 'n.event_time'),
    slower_table: only(
      ofFixed,
      'create temp table errata_slower (at timestamptz not null, delay interval not null) on commit drop;',
    ),
    slower: only(
      ofFixed,
      `, slower as (
  insert into pg_temp.errata_slower (at, delay)
  select s.at, s.delay
  from (
    select n.at, n.delay, max(n.delay) over (order by n.at, n.delay desc rows between unbounded preceding and 1 preceding) as before
    from new_row as n
    where n.event_time is not null
      and n.delay > interval '${delay ? microseconds(delay) : ''}'
      and ($7::timestamptz is null or n.at >= $7::timestamptz)
  ) as s
  where s.before is null or s.delay > s.before
)`,
    ),
    fixed_reached: trustedSql(
      ofFixed
        ? `(
        select greatest(s.watermark, $2::timestamptz - $5::interval - greatest(s.delay, $6::interval))
        from (select 1) as once
        left join lateral (
          select s.watermark, s.delay
          from ${steps} as s
          where s.rollup_id = $1::integer and s.at < $2::timestamptz - $5::interval
          order by s.at desc
          limit 1
        ) as s on true
      )`
        : '$2::timestamptz - $5::interval - $6::interval',
    ),
    delay_history: only(
      ofFixed,
      `, delay_history as (
  select
    array_agg(s.at + interval '1 microsecond' order by s.at) as in_force_from,
    array_agg(s.watermark order by s.at) as watermarks,
    array_agg(s.delay order by s.at) as delays
  from ${steps} as s
  where s.rollup_id = $7::integer
)`,
    ),
    delay_history_join: only(ofFixed, 'cross join delay_history as d'),
  };
}

/**
 * R8: keys with a delay of their own are judged by the rollup's watermark shifted by the difference, and sealed by it. Rows
 * of windows to seal are read span by span, each once, however many keys seal otherwise than the rest.
 */
function keyBindings(rollup: Rollup): Bindings {
  const { overrides, settings } = rollup;
  const { delay, strategy } = settings.watermark;
  const isOn = overrides?.isByKey === true && overrides.hasDelay;
  const kept = relationsOf(rollup).override;
  const either = (otherwise: string, sql: string) => trustedSql(isOn ? sql : otherwise);
  const join = (relation: string, row: string) => (isOn ? joinTo(overrides, relation, row) : trustedSql(''));
  const ownDelay = `interval '${delay ? microseconds(delay) : '0'}'`;
  const place = 'width_bucket(r.errata_ingested_at, h.in_force_from)';
  const isSealing =
    'w.window_start >= coalesce(v.errata_sealing_from, g.others_from) and w.window_start < coalesce(v.errata_sealing_to, g.others_to)';
  const keptUntil = (rollupUntil: string) =>
    `coalesce(greatest(o.errata_sealed_floor, ${rollupUntil} + o.errata_shift), ${rollupUntil})`;
  const ofGroup = (overrides?.by ?? [])
    .map(({ name }) => `array[o.${quoteName(name)}] = array[r.${quoteName(name)}]`)
    .join(' and ');
  return {
    history_delays: either('', ', array_agg(s.delay order by s.at) as delays'),
    key_ahead: either(
      '',
      strategy === 'bounded'
        ? `+ coalesce(coalesce(h.delays[${place}], ${ownDelay}) - v.errata_delay, interval '0')`
        : '',
    ),
    row_sealed_before: either('$10::timestamptz', 'coalesce(v.errata_sealed_before, $10::timestamptz)'),
    step_delay: either('', ', delay'),
    step_delay_value: either('', `, ${ownDelay}`),
    step_delay_raised: either(
      '',
      ', delay = case when excluded.watermark > s.watermark then excluded.delay else s.delay end',
    ),
    span_table: either(
      '',
      'create temp table errata_sealing_span (sealing_from timestamptz not null, sealing_to timestamptz not null, events_to timestamptz not null, others_from timestamptz, others_to timestamptz) on commit drop;',
    ),
    // Fenced, so that each span is read by itself: joined freely, 50 spans were compared with each row of 2 days.
    span_source: either(
      `${relationsOf(rollup).source} () as r`,
      `pg_temp.errata_sealing_span as g cross join lateral (
    select s.*
    from ${relationsOf(rollup).source} () as s
    where s.errata_event_time >= g.sealing_from
      and s.errata_event_time < g.events_to
      and (s.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
      and s.errata_ingested_at <= $4::timestamptz
    offset 0
  ) as r`,
    ),
    // The spans say more; said twice, the planner would take the rows for one and join overrides by nested loops.
    in_range: either(
      'w.window_start >= $1::timestamptz and w.window_start < $2::timestamptz',
      '$1::timestamptz < $2::timestamptz',
    ),
    span_join: either('', 'pg_temp.errata_sealing_span as g cross join'),
    in_span: either(
      '',
      'and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to and w.window_start >= g.sealing_from and w.window_start < g.sealing_to',
    ),
    id_in_span: either(
      '',
      'and s.window_start >= g.sealing_from and s.window_start < g.sealing_to and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to',
    ),
    key_is_sealing: either('', `and ${isSealing}`),
    any_key_is_sealing: either('', `and bool_or(${isSealing})`),
    // what a keyed window that was sealed has counted; then the order of ingestion, open keys and late rows alike
    is_counted_or: either(
      't.is_sealed and',
      `(t.window_end <= coalesce(v.errata_sealed_before, (select u.sealed_until from ${quoteName(rollup.schema)}.rollup as u where u.rollup_id = ${rollup.id}))) is not true or`,
    ),
    is_not_sealing: either(
      'not (c.window_start >= $1::timestamptz and c.window_start < $2::timestamptz)',
      // The statement goes without its parameters then, and $1 and $2 have to be there.
      'not exists (select from pg_temp.errata_same_id as s where not s.is_sealed and s.window_start = c.window_start and s.window_end = c.window_end and s.errata_event_id = c.errata_event_id) and $1::timestamptz <= $2::timestamptz',
    ),
    row_key_join: join(run, 'r'),
    said_key_join: join(run, 't'),
    queue_key_join: join(run, 'q'),
    candidate_key_join: join(run, 'c'),
    session_key_join: join(run, 'k'),
    moved_key_join: join(run, 'm'),
    event_key_join: join(run, 'e'),
    open_kept_join: join(`${kept} as o`, 'k'),
    key_sealed_until: either('$1::timestamptz', 'coalesce(v.errata_sealed_until, $1::timestamptz)'),
    candidate_sealed_until: either('$5::timestamptz', 'coalesce(v.errata_sealed_until, $5::timestamptz)'),
    window_kept_join: join(`${kept} as o`, 'w'),
    compared_kept_join: join(`${kept} as o`, 'c'),
    compared_sealed_until: either('$4::timestamptz', keptUntil('$4::timestamptz')),
    queue_kept_join: join(`${kept} as o`, 'q'),
    kept_sealed_until: either('$1::timestamptz', keptUntil('$1::timestamptz')),
    fold_sealed_until: either('r.sealed_until', keptUntil('r.sealed_until')),
    open_from: either(
      'r.sealed_until',
      `least(r.sealed_until, (select min(${keptUntil('r.sealed_until')}) from ${kept} as o))`,
    ),
    furthest_sealed: either(
      'r.sealed_until',
      `greatest(r.sealed_until, (select max(${keptUntil('r.sealed_until')}) from ${kept} as o))`,
    ),
    key_is_open: either(
      '',
      `having r.errata_window_end > coalesce(
    (
      select ${keptUntil('u.sealed_until')}
      from ${quoteName(rollup.schema)}.rollup as u
      left join ${kept} as o on ${ofGroup}
      where u.rollup_id = ${rollup.id}
    ),
    '-infinity'
  )`,
    ),
  };
}
