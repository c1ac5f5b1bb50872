/** What the placeholders of `sql/` stand for in one rollup. */
import type { PeriodSettings, WindowSettings } from '../config/settings.ts';
import { joinSql, quoteName, quoteTable, quoteText, type Sql, trustedSql } from '../db/identifiers.ts';
import { notOfRows } from '../db/row-fault.ts';
import type { Bindings } from '../db/sql.ts';
import { linkHash, rowHash } from './canonical.ts';
import { microseconds } from './describe.ts';
import { overrideBindings } from './override-bindings.ts';
import { relationsOf } from './relations.ts';
import type { Column, Measure, Rollup } from './rollup.ts';
import { entryBindings, sessionBindings } from './session-bindings.ts';

export function bindingsOf(rollup: Rollup): Bindings {
  const relations = relationsOf(rollup);
  return {
    schema: quoteName(rollup.schema),
    // what a statement of an earlier instant puts its own in place of
    proposal: quoteTable({ schema: rollup.schema, name: 'proposal' }),
    sweep: quoteTable({ schema: rollup.schema, name: 'reconciliation' }),
    rollup_id: trustedSql(String(rollup.id)),
    partition_constraint: trustedSql('true'),
    ...relations,
    ...periodBindings(rollup.settings.periods),
    ...sourceBindings(rollup),
    ...windowBindings(rollup.settings.window),
    ...logBindings(rollup),
    ...refusedBindings(rollup),
    ...ownBindings(rollup),
    ...sessionBindings(rollup),
    ...notSetAside,
    is_fault_of_row: trustedSql(`left(sqlstate, 2) <> all ('{${notOfRows.join(',')}}'::text[])`),
    unique_rows: trustedSql(String(rollup.settings.bronze.identity === 'unique_rows')),
    place_of_copy: trustedSql(
      rollup.settings.bronze.identity === 'unique_rows'
        ? '1'
        : `row_number() over (
      partition by r.errata_window_start, r.errata_window_end, r.errata_event_id
      order by r.errata_is_copy, r.errata_is_new, r.errata_ingested_at, r.errata_row_digest collate "C"
    )`,
    ),
    ...overrideBindings(rollup),
    row_hash: rowHash(rollup),
    ledger_name: quoteText(relations.ledger),
    emission_by_window: quoteTable({
      schema: rollup.schema,
      name: `${rollup.settings.gold.name}_emission_by_window`,
    }),
    late_event_pending: quoteTable({
      schema: rollup.settings.gold.schema,
      name: `${rollup.settings.gold.name}_late_event_pending`,
    }),
    last_stamp_name: quoteText(relations.last_stamp),
    evidence_name: quoteText(relations.evidence),
    link_hash: linkHash(),
    stream_lock: trustedSql(String(streamLock)),
    event_count_measure: eventCountOf(rollup.measures, 'new'),
    adopted_event_count: eventCountOf(rollup.measures, 't'),
    result_table:
      rollup.settings.seal.by === 'table'
        ? quoteTable(rollup.settings.seal.table)
        : relationsOf(rollup).sealed,
    key_texts: joinSql(
      rollup.keys.map((key) => trustedSql(`c.${quoteName(key.name)}::text`)),
      ', ',
    ),
    event_of_part: sameKey(rollup, 'e'),
    version_of_part: sameKey(rollup, 'g'),
    part_key_texts: joinSql(
      rollup.keys.map((key) => trustedSql(`p.${quoteName(key.name)}::text`)),
      ', ',
    ),
    version_key_texts: joinSql(
      rollup.keys.map((key) => trustedSql(`g.${quoteName(key.name)}::text`)),
      ', ',
    ),
    queue_key_texts: joinSql(
      rollup.keys.map((key) => trustedSql(`q.${quoteName(key.name)}::text`)),
      ', ',
    ),
    event_key_texts: joinSql(
      rollup.keys.map((key) => trustedSql(`e.${quoteName(key.name)}::text`)),
      ', ',
    ),
    reading: trustedSql('pg_temp.errata_touched'),
    measured_into: trustedSql('pg_temp.errata_result'),
    sealing_into: trustedSql('pg_temp.errata_sealing_result'),
    in_stretch: trustedSql(''),
    id_in_stretch: trustedSql(''),
    of_stretch: trustedSql(''),
    // of the keyed windows that are read in one go (statements.ts has the others)
    fence: trustedSql(''),
    looked_up: trustedSql('not true'),
    same_key: trustedSql('is not distinct from'),
    latest_differs: differs(rollup.measures, 'n', 'l'),
    emission_differs_from_latest: differs(rollup.measures, 'm', 'l'),
    emission_differs_from_rows: differs(rollup.measures, 'm', 'n'),
    kept_differs: differs(rollup.measures, 'k', 'g'),
    sealing_differs: differs(rollup.measures, 's', 'l'),
    open_differs: trustedSql(`coalesce(o.event_count, 0) = 0 or ${differs(rollup.measures, 'o', 'l')}`),
    all_differ: trustedSql(`coalesce(w.event_count, 0) = 0 or ${differs(rollup.measures, 'w', 'l')}`),
    event_key_pairs: joinSql(
      rollup.keys.map((key) => trustedSql(`${quoteText(key.name)}, e.${quoteName(key.name)}::text`)),
      ', ',
    ),
    key_pairs: joinSql(
      rollup.keys.map((key) => trustedSql(`${quoteText(key.name)}, c.${quoteName(key.name)}::text`)),
      ', ',
    ),
    key: rollup.keys.map((key, place) => ({
      key: quoteName(key.name),
      key_type: trustedSql(key.type),
      key_place: trustedSql(String(place)),
    })),
    // An index on the id serves a look-up by its native value. Of several columns one may be NULL, which equals nothing.
    distinct_id: distinctId(rollup),
    ...singleId(rollup),
    id: rollup.ids.length === 1 ? rollup.ids.map((id) => ({ id: quoteName(id.name) })) : [],
    column: rollup.columns.map(columnBindings),
    measured: rollup.measured.map(columnBindings),
    measure: rollup.measures.map(measureBindings),
    additive: rollup.measures.filter((measure) => measure.isAdditive).map(measureBindings),
    other: rollup.measures.filter((measure) => !measure.isAdditive).map(measureBindings),
    limited: limitedMeasures(rollup),
  };
}

const notSetAside = { except_failing: trustedSql(''), except_failing_row: trustedSql('') };

/** In place of those pieces, and of the contributions, once something cannot be computed (R19). */
export function exceptFailing(rollup: Rollup): Bindings {
  const sameKey = rollup.keys.map(
    ({ name }) => ` and array[f.${quoteName(name)}] = array[r.${quoteName(name)}]`,
  );
  return {
    except_failing: trustedSql(
      `and not exists (select from pg_temp.errata_failing as f where f.window_start = r.errata_window_start and f.window_end = r.errata_window_end${sameKey.join('')})`,
    ),
    except_failing_row: trustedSql(
      'where not exists (select from pg_temp.errata_failing_row as f where f.row_digest = one.errata_row_digest)',
    ),
    measure: rollup.measures.map((measure) => {
      const bound = measureBindings(measure);
      // of no row even a count is nothing
      return { ...bound, contribution: trustedSql(`case when count(*) > 0 then ${bound.contribution} end`) };
    }),
  };
}

/** Where one column is the event id: the column, of rows of bronze and of late ids; else it is not asked for. */
function singleId({ ids }: Rollup): Record<string, Sql> {
  const [id, ...more] = ids;
  if (!id || more.length > 0) {
    const none = trustedSql('null::text');
    return { single_id: none, late_single_id: none, single_id_type: trustedSql('text') };
  }
  const name = quoteName(id.name);
  return {
    single_id: trustedSql(`r.${name}`),
    late_single_id: trustedSql(`l.${name}`),
    single_id_type: trustedSql(id.type),
  };
}

/** Of other types two values may have one text, as numbers written with fewer digits than they have. */
const asDistinctAsText = ['smallint', 'integer', 'bigint', 'uuid'];

function distinctId({ ids }: Rollup): Sql {
  const [id] = ids;
  return ids.length === 1 && id && asDistinctAsText.includes(id.type)
    ? trustedSql(`r.${quoteName(id.name)}`)
    : trustedSql('r.errata_event_id collate "C"');
}

/** The first half of the advisory locks that stream inserts hold until they commit (R11). */
export const streamLock = 7431;

function columnBindings(column: Column): Record<string, Sql> {
  return { column: quoteName(column.name), column_type: trustedSql(column.type) };
}

function measureBindings(measure: Measure): Record<string, Sql> {
  const { name, type, expression, isAdditive, isNumeric, tolerance, mergedBy } = measure;
  const quoted = quoteName(name);
  const [found, known] = [
    `coalesce(b.${quoted}, 0)::numeric`,
    `coalesce(v.${quoteName(`restated_${name}`)}, 0)::numeric`,
  ];
  const prefixes = [
    'old',
    'previous',
    'delta',
    'event',
    'sealed',
    'corrections',
    'late_firing',
    'straggler',
    'refused',
    'quarantine_release',
    'seal_mismatch',
    'stream_emission',
    'source_change',
    'other',
    'latest',
    'pending',
    'held',
    'waived',
    'restated',
    'share_of',
    'errata_bronze',
    'errata_unexamined',
    'errata_unexplained',
  ];
  return {
    measure: quoted,
    measure_name: quoteText(name),
    measure_type: trustedSql(type),
    measure_value: trustedSql(expression),
    merged_measure: trustedSql(mergedBy ? `${mergedBy}(m.${quoted})::${type}` : `null::${type}`),
    contribution: trustedSql(isAdditive ? expression : `null::${type}`),
    sum_of_measure: trustedSql(isAdditive ? `sum(e.${quoted})::${type}` : `null::${type}`),
    pending_or_zero: trustedSql(
      isAdditive ? `coalesce(p.${quoteName(`pending_${name}`)}, 0)::${type}` : `null::${type}`,
    ),
    delta_value: trustedSql(
      isNumeric
        ? `(coalesce(g.${quoted}, 0) - coalesce(lag(g.${quoted}) over keyed_window, 0))::${type}`
        : `null::${type}`,
    ),
    changed_value: trustedSql(
      isNumeric ? `(coalesce(g.${quoted}, 0) - coalesce(o.${quoted}, 0))::${type}` : `null::${type}`,
    ),
    difference_to_before: trustedSql(
      isNumeric ? `(coalesce(g.${quoted}, 0) - coalesce(p.${quoted}, 0))::${type}` : `null::${type}`,
    ),
    unexplained_value: trustedSql(
      tolerance === undefined
        ? `case when ${found} is distinct from ${known} then ${found} - ${known} else 0 end`
        : `case when abs(${found} - ${known}) > ${tolerance}::numeric then ${found} - ${known} else 0 end`,
    ),
    other_differs: differs([measure], 'g', 'b'),
    difference_value: trustedSql(
      isNumeric ? `coalesce(c.${quoted}, 0) - coalesce(c.${quoteName(`old_${name}`)}, 0)` : `null::${type}`,
    ),
    ...Object.fromEntries(prefixes.map((prefix) => [`${prefix}_measure`, quoteName(`${prefix}_${name}`)])),
  };
}

/** The calendar of periods, as rows `(period, period_start, period_end)`: from an instant on, and by name (R12). */
function periodBindings(periods: PeriodSettings): Record<string, Sql> {
  if (periods.calendar === 'table') {
    const [period, start, end] = [periods.period, periods.start, periods.end].map(
      (name) => `t.${quoteName(name)}`,
    );
    const rows = `select ${period}::text as period, ${start}::timestamptz as period_start, ${end}::timestamptz as period_end from ${quoteTable(periods.table)} as t`;
    return {
      periods_from: trustedSql(`(${rows} where ${end} > s.from_instant)`),
      period_by_name: trustedSql(`(${rows} where ${period}::text = n.name)`),
    };
  }
  const zone = quoteText(periods.timeZone);
  return {
    periods_from: trustedSql(
      `(select to_char(m, 'YYYY-MM') as period, m at time zone ${zone} as period_start, (m + interval '1 month') at time zone ${zone} as period_end
  from generate_series(date_trunc('month', s.from_instant at time zone ${zone}), (s.from_instant at time zone ${zone}) + interval '10 years', '1 month') as m)`,
    ),
    period_by_name: trustedSql(
      `(select n.name as period, (n.name || '-01')::timestamp at time zone ${zone} as period_start, ((n.name || '-01')::timestamp + interval '1 month') at time zone ${zone} as period_end)`,
    ),
  };
}

/** The measures with a threshold; of the two limits one may be missing (R10). */
function limitedMeasures({ measures, settings }: Rollup): Record<string, Sql>[] {
  return measures.flatMap(({ name, isAdditive }) => {
    const { absolute, relative } = settings.publish.reviewBeyond[name] ?? {};
    if (absolute === undefined && relative === undefined) return [];
    const text = [absolute, relative && `${relative}%`].filter(Boolean).join(' or ');
    return [
      {
        measure: quoteName(name),
        measure_name: quoteText(name),
        absolute: trustedSql(absolute === undefined ? 'null::numeric' : `${absolute}::numeric`),
        relative: trustedSql(relative === undefined ? 'null::numeric' : `${relative}::numeric`),
        limit_text: quoteText(text),
        adds_up: trustedSql(String(isAdditive)),
      },
    ];
  });
}

/** True where any measure of the two rows differs, by more than its tolerance if it has one (R9). */
function differs(measures: readonly Measure[], left: string, right: string): Sql {
  const parts = measures.map(({ name, tolerance }) => {
    const [a, b] = [`${left}.${quoteName(name)}`, `${right}.${quoteName(name)}`];
    if (tolerance === undefined) return `${a} is distinct from ${b}`;
    return `((${a} is null) is distinct from (${b} is null) or (${a} is distinct from ${b} and abs(${a}::numeric - ${b}::numeric) > ${tolerance}::numeric))`;
  });
  return trustedSql(`(${parts.join(' or ')})`);
}

/** Within a list no other can be repeated; rows `p` are those of the reconciliation view. */
function sameKey(rollup: Rollup, row: string): Sql {
  return trustedSql(
    rollup.keys
      .map(({ name }) => `and array[${row}.${quoteName(name)}] = array[p.${quoteName(name)}]`)
      .join(' '),
  );
}

/** The event count of a row that a stream wrote, where a measure tells it. */
function eventCountOf(measures: readonly Measure[], row: string): Sql {
  const count = measures.find((measure) => measure.isCountOfRows);
  return trustedSql(count ? `${row}.${quoteName(count.name)}::bigint` : 'null::bigint');
}

function sourceBindings(rollup: Rollup): Record<string, Sql> {
  const { settings, times, ids, hasRowAge } = rollup;
  const { bronze, watermark } = settings;
  const value = (column: Column) => {
    const name = `b.${quoteName(column.name)}`;
    if (column.type.startsWith('timestamp') && column.type.endsWith('with time zone'))
      return trustedSql(name);
    return trustedSql(`(${name}::timestamp at time zone ${quoteText(bronze.timeZone ?? 'UTC')})`);
  };
  const arrived = value(times.arrivedAt ?? times.ingestedAt);
  const mapped = [...new Set([...ids, ...rollup.columns].map((column) => column.name))];
  const digest = `md5(row(b.errata_event_time, b.errata_ingested_at, b.errata_arrived_at${mapped.map((name) => `, b.${quoteName(name)}`).join('')})::text)`;
  const [first, ...more] = ids;
  const eventId = !first
    ? `'row:' || ${digest}`
    : more.length === 0
      ? `coalesce(b.${quoteName(first.name)}::text, 'row:' || ${digest})`
      : `case when num_nulls(${ids.map((id) => `b.${quoteName(id.name)}`).join(', ')}) = ${ids.length} then 'row:' || ${digest} else row(${ids.map((id) => `b.${quoteName(id.name)}`).join(', ')})::text end`;
  return {
    bronze: quoteTable(bronze.table),
    event_id_value: trustedSql(eventId),
    event_time_value: value(times.eventTime),
    ingested_at_value: value(times.ingestedAt),
    arrived_at_value: arrived,
    source_partition_value: trustedSql(
      bronze.sourcePartition === undefined ? 'null::text' : `b.${quoteName(bronze.sourcePartition)}::text`,
    ),
    heartbeat_value: trustedSql(bronze.heartbeat ?? 'false'),
    future_skew_test: trustedSql(
      watermark.maxFutureSkew === undefined
        ? 'false'
        : // A person may have let the row out (sql/pipeline/begin/released.sql).
          `b.errata_event_time > b.errata_arrived_at + interval '${microseconds(watermark.maxFutureSkew)}' and not coalesce(${digest} = any (nullif(current_setting('errata.released', true), '')::text[]), false)`,
    ),
    row_digest_value: trustedSql(digest),
    system_columns: trustedSql(hasRowAge ? 'b.xmin as errata_xmin, b.tableoid as errata_tableoid,' : ''),
    row_age_value: trustedSql(hasRowAge ? 'age(b.errata_xmin)' : 'null::integer'),
    relation_value: trustedSql(hasRowAge ? 'b.errata_tableoid' : 'null::oid'),
  };
}

function windowBindings(window: WindowSettings): Record<string, Sql> {
  if (window.kind === 'calendar') return { ...gridNone, ...calendarBindings(window) };
  if (window.kind === 'session') return { ...gridNone, ...calendarNone };
  const every = window.kind === 'hopping' ? window.every : window.size;
  const offset = window.offset ? ` + interval '${microseconds(window.offset)}'` : '';
  const origin = window.origin ?? '1970-01-01';
  const instant = /[Zz]|[+-]\d\d:?\d\d$/.test(origin.slice(10)) ? origin : `${origin} UTC`;
  const overlap = (window.size.microseconds - 1n) / every.microseconds;
  return {
    ...calendarNone,
    window_size: trustedSql(`interval '${microseconds(window.size)}'`),
    window_every: trustedSql(`interval '${microseconds(every)}'`),
    window_overlap: trustedSql(String(overlap)),
    window_origin: trustedSql(`(timestamptz ${quoteText(instant)}${offset})`),
  };
}

function calendarBindings(window: Extract<WindowSettings, { kind: 'calendar' }>): Record<string, Sql> {
  const months: Record<string, number> = { month: 1, quarter: 3, year: 12 };
  const hours: Record<string, number> = { hour: 1, day: 24, week: 168 };
  const perUnit = months[window.unit];
  const width = BigInt(window.count * (hours[window.unit] ?? 0)) * 3_600_000_000n;
  return {
    width_months: trustedSql(perUnit ? String(window.count * perUnit) : 'null'),
    width_us: trustedSql(perUnit ? 'null' : String(width)),
    zone: quoteText(window.timeZone),
    calendar_origin: trustedSql(
      window.origin ? `timestamp ${quoteText(window.origin.replace('T', ' '))}` : 'null',
    ),
    calendar_offset: trustedSql(window.offset ? `interval '${microseconds(window.offset)}'` : "interval '0'"),
  };
}

const gridNone = {
  window_size: trustedSql('null'),
  window_every: trustedSql('null'),
  window_overlap: trustedSql('null'),
  window_origin: trustedSql('null'),
};

const calendarNone = {
  width_months: trustedSql('null'),
  width_us: trustedSql('null'),
  zone: trustedSql('null'),
  calendar_origin: trustedSql('null'),
  calendar_offset: trustedSql('null'),
};

function logBindings(rollup: Rollup): Record<string, Sql> {
  const log = rollup.settings.watermark.log;
  const name = log ? quoteTable(log.table) : relationsOf(rollup).watermark_log;
  return {
    log: name,
    log_name: quoteText(name),
    log_source_partition: quoteName(log?.sourcePartition ?? 'source_partition'),
    log_at: quoteName(log?.at ?? 'at'),
    log_watermark: quoteName(log?.watermark ?? 'watermark'),
    log_idle: quoteName(log?.idle ?? 'idle'),
    log_dropped: trustedSql(
      log && log.dropped === undefined ? 'null' : `l.${quoteName(log?.dropped ?? 'dropped')}`,
    ),
  };
}

/** The stream's table of refused rows; of a rollup without one, the statements that name it are not sent. */
function refusedBindings(rollup: Rollup): Bindings {
  const { refused } = rollup.settings.watermark;
  const isSession = rollup.settings.window.kind === 'session';
  const optional = (name: string | undefined) =>
    trustedSql(name === undefined ? 'null::timestamptz' : `f.${quoteName(name)}`);
  const ids = (refused?.eventId ?? ['event_id']).map((name) => `f.${quoteName(name)}`);
  const [first] = ids;
  return {
    refused: refused ? quoteTable(refused.table) : relationsOf(rollup).late_event,
    // as `event_id_value` of bronze; an entry without an id finds no row
    refused_event_id: trustedSql(
      ids.length === 1
        ? `${first}::text`
        : `case when num_nulls(${ids.join(', ')}) < ${ids.length} then row(${ids.join(', ')})::text end`,
    ),
    refused_event_time: optional(refused?.eventTime),
    // Over sessions an entry names a row, whatever session the stream had it in.
    refused_window_start: optional(isSession ? undefined : refused?.windowStart),
    refused_window_end: optional(isSession ? undefined : refused?.windowEnd),
    refused_watermark: optional(refused?.watermark),
    refused_at: optional(refused?.refusedAt),
    ...entryBindings(rollup),
    // As `id`: an index of bronze serves a look-up by the native value.
    refused_id:
      ids.length === 1 && rollup.ids.length === 1
        ? rollup.ids.map((id) => ({ refused_id: trustedSql(first as string), bronze_id: quoteName(id.name) }))
        : [],
  };
}

/** R2, `own`: each row is judged by the watermark of its own source partition too. */
function ownBindings({ settings: { watermark } }: Rollup): Record<string, Sql> {
  if (watermark.combine !== 'own' || watermark.strategy === 'fixed_delay')
    return { own_join: trustedSql(''), own_watermark: trustedSql('null') };
  return {
    own_join: trustedSql(
      "left join own_history as o on coalesce('=' || o.source_partition, '') = coalesce('=' || r.errata_source_partition, '')",
    ),
    own_watermark: trustedSql('o.watermarks[width_bucket(r.errata_ingested_at, o.in_force_from)]'),
  };
}
