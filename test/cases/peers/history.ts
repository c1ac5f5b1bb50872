/** A case as a rollup of its own: what is declared for it, and its steps landed in bronze and logged. */
import { amendWindows } from '../../../src/publication/amend.ts';
import type { TestDatabase } from '../../support/database.ts';
import { openErrata, type TestErrata } from '../../support/errata.ts';
import { type Event, lineOf, millisecondsOf, type Peer, type Range, type Step, type Time } from './case.ts';

export interface History {
  readonly peer: Peer;
  readonly errata: TestErrata;
  readonly table: string;
}

export interface Version {
  /** As `lineOf`. */
  readonly line: string;
  readonly version: number;
  readonly start: number;
  readonly end: number;
  readonly localStart: string;
  readonly localEnd: string;
  /** The rows that it counts, by name. */
  readonly names: readonly string[];
}

/** Another reading of a case: another name, other settings. */
export interface Reading {
  readonly suffix?: string;
  readonly watermark?: string;
  readonly lateness?: string;
  readonly window?: string;
}

const wholeHour = 3_600_000_000;
/** How the numbers of the peer are raised to mean the same here. */
export const raisedBy = ({ watermark }: Peer) => (watermark?.convention === 'inclusive' ? 1 : 0);

/** The arrival instant of a step. */
export const arrival = (step: number) => new Date(Date.UTC(2026, 0, 1) + step * 1000).toISOString();
export const beyondEverything = '9000-01-01T00:00:00Z';

export function windowOf({ window, time_unit: unit, proto_windows: proto }: Peer): string {
  if (!window) return '{ tumbling: 1 ms }';
  const { size = 0, width, width_text: widthText = '', time_zone: zone, origin_local: origin } = window;
  const span = (units: number) => (unit === 'int' ? `${units} s` : `${units} ms`);
  if (window.type === 'session') return `{ session_gap: ${span(window.gap ?? lengthOf(proto?.[0]))} }`;
  const borders = 'origin: 1970-01-01T00:00:00Z';
  if (window.type === 'hopping')
    return `{ hopping: ${span(size)}, every: ${span(window.slide ?? 0)}, ${borders} }`;
  // a width below the hour does not follow the calendar
  if (width?.us !== undefined && width.us % wholeHour !== 0)
    return `{ tumbling: ${widthText}, origin: ${origin}Z }`;
  if (zone !== undefined) {
    const rest = [
      origin === undefined ? '' : `, origin: '${origin.replace('T', ' ')}'`,
      window.offset_text === undefined ? '' : `, offset: ${window.offset_text}`,
    ];
    return `{ calendar: ${widthText || `${size / 3_600_000} hours`}, time_zone: ${zone}${rest.join('')} }`;
  }
  // an offset has no sign
  return `{ tumbling: ${span(size)}, ${borders}, offset: ${span(((window.offset ?? 0) + size) % size)} }`;
}

const lengthOf = ([start, end]: readonly [number, number] = [0, 0]) => end - start;

function watermarkOf({ watermark }: Peer): string {
  const { strategy, inputs = [], delay = 0, policy, idle_timeout: idle = 0 } = watermark ?? {};
  const names = inputs.map((input) => (typeof input === 'object' ? input.partition : input)).join(', ');
  switch (strategy) {
    case 'merge_min':
      return `{ strategy: recorded, hold: 0, max_future_skew: none, source_partitions: [${names}] }`;
    case 'per_input_max_minus_delay':
      return `{ strategy: bounded, delay: 0, max_future_skew: none, combine: ${policy}, source_partitions: [${names}] }`;
    case 'bounded_out_of_orderness':
      return `{ strategy: bounded, delay: ${delay} ms, max_future_skew: none }`;
    case 'idleness':
      return `{ strategy: bounded, delay: 0, max_future_skew: none, idle_after: ${idle + 1} s }`;
    case 'stream_time':
      return '{ strategy: bounded, delay: 0, max_future_skew: none }';
    default:
      return '{ strategy: recorded, hold: 0, max_future_skew: none }';
  }
}

function measureOf({ aggregate, kind }: Peer): string {
  if (aggregate === 'collect') return "string_agg(value, ',' order by step)";
  if (aggregate === 'count' || kind === 'session_merge' || aggregate === undefined) return 'count(*)';
  return `${aggregate}(value::numeric)`;
}

export function settingsOf(peer: Peer, reading: Reading = {}): { name: string; table: string; yaml: string } {
  const name = `${peer.id.replaceAll('-', '_')}${reading.suffix ?? ''}`;
  const table = `bronze.${name}`;
  // Kafka's deadline of a session itself still admits
  const grace = (peer.allowed_lateness ?? 0) + (peer.watermark?.convention === 'strict_deadline' ? 1 : 0);
  const yaml = `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: { table: ${table}, event_id: id, event_time: event_time, ingested_at: ingested_at, source_partition: source, complete_from: 0001-01-01 }
    window: ${reading.window ?? windowOf(peer)}
    key: [key]
    measures: { result: "${measureOf(peer)}", names: "string_agg(name, ' ' order by step, name)" }
    watermark: ${reading.watermark ?? watermarkOf(peer)}
    allowed_lateness: ${reading.lateness ?? `${grace} ms`}
    seal: { by: errata }
    publish: { policy: ${peer.kind === 'refresh' ? 'auto' : 'grace'} }
`;
  return { name, table, yaml };
}

export async function openCase(database: TestDatabase, peer: Peer, reading: Reading = {}): Promise<History> {
  const { table, yaml } = settingsOf(peer, reading);
  await database.pool.query(`
    create schema if not exists bronze;
    create table ${table} (step float8, name text, id text, source text, key text, event_time timestamptz, ingested_at timestamptz, value text)`);
  return { peer, errata: await openErrata(database, yaml), table };
}

/** Lands and logs one step. A refresh or a delete is a run; all else waits for one. */
export async function take(history: History, step: Step, at: number): Promise<void> {
  const { peer } = history;
  const { event, watermark, batch, insert, insert_series: series } = step;
  if (event) {
    // where rows are told apart by a key, it is the event id, and all are counted under one key
    const isCopied = peer.kind === 'dedup';
    await land(
      history,
      at,
      [{ ...event, key: isCopied ? 'all' : event.key }],
      isCopied ? event.key : undefined,
    );
  }
  if (insert) await land(history, at, insert);
  if (series) {
    const from = millisecondsOf(peer, series.from);
    const width = peer.time_unit === 'iso' ? series.step / 1000 : series.step * 1000;
    const count = Math.floor((millisecondsOf(peer, series.to_inclusive) - from) / width) + 1;
    const times = Array.from({ length: count }, (_, n) => new Date(from + n * width).toISOString());
    await land(
      history,
      at,
      times.map((time) => ({ event_time: time, key: series.key, value: series.value })),
    );
  }
  for (const { partition, event_times: times } of batch ?? [])
    await land(
      history,
      at,
      times.map((time) => ({ event_time: time - delayOf(peer, partition), partition })),
    );
  const source = step.partition ?? step.idle ?? step.active ?? step.unregister;
  if (watermark !== undefined || source !== undefined)
    await log(history, at, {
      source: source === undefined ? null : String(source),
      watermark:
        watermark === undefined
          ? null
          : new Date(millisecondsOf(peer, watermark + raisedBy(peer))).toISOString(),
      idle: step.idle !== undefined || step.unregister !== undefined,
    });
  if (step.refresh) await runAfter(history, at);
  if (step.delete_rows) await amend(history, step.delete_rows, at);
}

/** Each stream has a delay of its own there: it is taken off the event times before they land here. */
function delayOf({ watermark }: Peer, partition: string): number {
  for (const input of watermark?.inputs ?? [])
    if (typeof input === 'object' && input.partition === partition) return input.delay;
  return 0;
}

export async function land(
  { peer, errata, table }: History,
  step: number,
  events: readonly (Omit<Event, 'id'> & { readonly id?: string })[],
  id?: string,
): Promise<void> {
  const names = events.map(({ id: own, partition = '' }, n) => own ?? `e${step}.${partition}${n}`);
  await errata.rows(
    `insert into ${table} (step, name, id, source, key, event_time, ingested_at, value)
     select $1, e.name, coalesce($2, e.name), e.source, e.key, e.event_time, $3, e.value
     from unnest($4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[]) as e (name, source, key, event_time, value)`,
    [
      step,
      id ?? null,
      arrival(step),
      names,
      events.map(({ partition }) => (partition === undefined ? null : String(partition))),
      events.map(({ key }) => key ?? null),
      events.map(({ event_time: time }) => instantOf(peer, time)),
      events.map(({ value }) => value ?? null),
    ],
  );
}

/** Text of an instant, to the microsecond where that is how it is written. */
const instantOf = (peer: Peer, time: Time) =>
  typeof time === 'string' ? time : new Date(millisecondsOf(peer, time)).toISOString();

export async function log(
  { errata }: History,
  step: number,
  entry: { readonly source?: string | null; readonly watermark: string | null; readonly idle?: boolean },
): Promise<void> {
  await errata.rows(
    `insert into gold.${errata.rollup.settings.name}_watermark_log (source_partition, at, watermark, idle) values ($1, $2, $3, $4)`,
    [entry.source ?? null, arrival(step), entry.watermark, entry.idle ?? false],
  );
}

/** A run whose bound lies just after a step. */
export async function runAfter({ errata }: History, step: number): Promise<void> {
  await errata.run({ bound: arrival(step + 0.5) });
}

/** The end of the input: the watermark passes everything. */
export async function closeAll(history: History, step: number): Promise<void> {
  if (history.errata.rollup.settings.watermark.strategy === 'recorded')
    await log(history, step, { watermark: beyondEverything });
  else await land(history, step, [{ id: 'end', key: 'end', event_time: beyondEverything, value: 0 }]);
  await runAfter(history, step);
}

async function amend({ peer, errata, table }: History, { from, to }: Range, at: number): Promise<void> {
  const [first, last] = [from, to].map((time) => (time === null ? undefined : instantOf(peer, time)));
  await errata.rows(`delete from ${table} where event_time >= $1 and event_time < $2`, [
    first ?? '-infinity',
    last ?? 'infinity',
  ]);
  const size = millisecondsOf(peer, peer.window?.size ?? 0);
  const before = first === undefined ? undefined : Math.floor(Date.parse(first) / size) * size;
  await amendWindows(
    errata.control,
    errata.rollup,
    {
      actor: 'ada',
      reason: 'rows deleted',
      windowFrom: before === undefined ? undefined : new Date(before).toISOString(),
      windowTo: last,
    },
    { bound: arrival(at + 0.5) },
  );
}

/** Versions that are not void, in order of publication: all, the first ones, or the last ones. */
export async function published(
  { peer, errata }: History,
  which: 'all' | 'sealed' | 'latest' = 'all',
): Promise<Version[]> {
  const { name } = errata.rollup.settings;
  const milliseconds = (column: string) => `(extract(epoch from g.${column}) * 1000)::float8 as ${column}`;
  const local = (column: string) =>
    `to_char(g.${column} at time zone '${peer.window?.time_zone ?? 'UTC'}', 'YYYY-MM-DD"T"HH24:MI:SS') as local_${column}`;
  const rows = await errata.rows<Record<string, string>>(
    `select g.key, ${milliseconds('window_start')}, ${milliseconds('window_end')}, ${local('window_start')}, ${local('window_end')}, g.version, g.result, g.names
     from gold.${name} as g
     where not g.is_void ${which === 'sealed' ? 'and g.version = 1' : ''}
       ${which === 'latest' ? `and (g.window_start, g.window_end, coalesce(g.key, ''), g.version) in (select l.window_start, l.window_end, coalesce(l.key, ''), l.version from gold.${name}_latest as l)` : ''}
     order by g.stamp, g.version, g.window_start, g.key`,
  );
  return rows.map((row) => {
    const [start, end] = [Number(row.window_start), Number(row.window_end)];
    const value = peer.aggregate === 'collect' ? (row.result ?? '') : Number(row.result);
    // as milliseconds already
    const line = lineOf({ ...peer, time_unit: 'ms' }, { key: row.key ?? 'null', start, end, value });
    return {
      line,
      version: Number(row.version),
      start,
      end,
      localStart: row.local_window_start ?? '',
      localEnd: row.local_window_end ?? '',
      names: (row.names ?? '').split(' '),
    };
  });
}

/** `name [start, end)` of the late events with this landing. */
export async function landed({ errata, table }: History, landing: string) {
  const rows = await errata.rows<{ id: string; start: string; end: string }>(
    `select b.name as id, (extract(epoch from e.window_start) * 1000)::float8::text as start, (extract(epoch from e.window_end) * 1000)::float8::text as end
     from gold.${errata.rollup.settings.name}_late_event as e
     join ${table} as b on b.id = e.event_id and b.ingested_at = e.ingested_at
     where e.landing = $1`,
    [landing],
  );
  return rows.map(({ id, start, end }) => ({ id, place: `${id} [${start}, ${end})` }));
}

/** The combined watermark just after the arrival of a step, since 1970; null while there is none. */
export async function combinedAfter({ errata }: History, step: number): Promise<number | null> {
  const [row] = await errata.rows<{ watermark: string }>(
    `select (extract(epoch from s.watermark) * 1000)::float8::text as watermark
     from errata.watermark_step as s where s.rollup_id = $1 and s.at <= $2 order by s.at desc limit 1`,
    [errata.rollup.id, arrival(step)],
  );
  return row ? Number(row.watermark) : null;
}
