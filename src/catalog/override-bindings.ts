/**
 * What the placeholders for delays and latenesses that differ stand for (R2, R3, R8). Most stand for nothing in a rollup
 * without them, whose SQL is what it would be without this file.
 */
import { joinSql, quoteName, quoteTable, quoteText, type Sql, trustedSql } from '../db/identifiers.ts';
import type { Bindings } from '../db/sql.ts';
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

/** R2: what a row is judged by under `fixed_delay`, and what it moves its own source partition's watermark to. */
function delayBindings({ overrides }: Rollup): Bindings {
  const bySource = overrides?.hasDelay && !overrides.isByKey;
  return {
    row_delay: trustedSql(bySource ? 'coalesce(v.errata_delay, $11::interval)' : '$11::interval'),
    moved_to: trustedSql(
      bySource ? 't.greatest - coalesce(v.errata_delay, $8::interval)' : 't.greatest - $8::interval',
    ),
    telling_override_join: bySource
      ? joinTo(overrides, 'pg_temp.errata_override as v', 'v', 't')
      : trustedSql(''),
  };
}
