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
    override_pairs: joinSql(
      by.map(({ name }) => trustedSql(`${quoteText(name)}, t.${columnOf(name)}::text`)),
      ', ',
    ),
    override_delay: span(chosen?.delay),
    override_lateness: span(chosen?.allowedLateness),
    row_override_join: joinTo(overrides, 'pg_temp.errata_override as v', 'v', 'r'),
  };
}

/** A left join of the overrides `alias` to rows `row`; nothing where there are none. */
function joinTo(overrides: Rollup['overrides'], relation: string, alias: string, row: string): Sql {
  if (!overrides) return trustedSql('');
  const column = (name: string) =>
    row === 'r' && !overrides.isByKey ? 'errata_source_partition' : quoteName(name);
  const tests = overrides.by.map(
    ({ name }) => `array[${alias}.${quoteName(name)}] = array[${row}.${column(name)}]`,
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
    fold_override_join: overrides?.isByKey ? joinTo(overrides, `${kept} as o`, 'o', 'f') : trustedSql(''),
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
  const place = "width_bucket(r.errata_arrived_at - interval '1 microsecond', d.instants)";
  const fixed = ofFixed
    ? `greatest(r.errata_arrived_at - coalesce(r.errata_delay, $11::interval), d.watermarks[${place}], r.errata_arrived_at - greatest(d.delays[${place}], $11::interval))`
    : `r.errata_arrived_at - ${overrides?.hasDelay ? 'coalesce(v.errata_delay, $11::interval)' : '$11::interval'}`;
  const valid = 'filter (where n.quarantine is null)';
  return {
    fixed_watermark: trustedSql(fixed),
    moved_to: trustedSql(
      ofRow
        ? 't.greatest'
        : bySource
          ? 't.greatest - coalesce(v.errata_delay, $8::interval)'
          : 't.greatest - $8::interval',
    ),
    telling_override_join: bySource
      ? joinTo(overrides, 'pg_temp.errata_override as v', 'v', 't')
      : trustedSql(''),
    new_row_delay: only(ofRow || ofFixed, ', r.errata_delay as delay'),
    delay_by_instant: trustedSql(
      ofRow
        ? `, max(n.event_time - coalesce(n.delay, $8::interval)) ${valid} as moved`
        : ofFixed
          ? `, max(n.delay) ${valid} as slowest`
          : '',
    ),
    moving_to: trustedSql(ofRow ? 'i.moved' : 'i.greatest'),
    slower_table: only(
      ofFixed,
      'create temp table errata_slower (at timestamptz not null, delay interval not null) on commit drop;',
    ),
    slower: only(
      ofFixed,
      `, slower as (
  insert into pg_temp.errata_slower (at, delay)
  select s.at, s.slowest
  from (
    select i.at, i.slowest, max(i.slowest) over (order by i.at, i.source_partition rows between unbounded preceding and 1 preceding) as before
    from by_instant as i
    where not i.is_deferred
      and i.slowest > interval '${delay ? microseconds(delay) : ''}'
      and ($7::timestamptz is null or i.at >= $7::timestamptz)
  ) as s
  where s.before is null or s.slowest > s.before
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
    array_agg(s.at order by s.at) as instants,
    array_agg(s.watermark order by s.at) as watermarks,
    array_agg(s.delay order by s.at) as delays
  from ${steps} as s
  where s.rollup_id = $7::integer
)`,
    ),
    delay_history_join: only(ofFixed, 'cross join delay_history as d'),
  };
}
