/**
 * What a rollup's published numbers mean, and its fingerprint, which every version carries (R10). A measure may be
 * added and policies may change; another key or window is another number and needs a rollup of its own.
 */
import { createHash } from 'node:crypto';
import type { PublishSettings } from '../config/settings.ts';
import { Failure } from '../failure.ts';
import type { Column, Rollup } from './rollup.ts';

export interface Definition {
  readonly gold: string;
  readonly window: Readonly<Record<string, string>>;
  readonly key: readonly string[];
  readonly measures: Readonly<Record<string, string>>;
  readonly source: Readonly<Record<string, string>>;
  readonly seal: string;
  readonly policies: Readonly<Record<string, string>>;
  /** Missing in what older versions stored. */
  readonly types?: {
    /** Bronze columns that the rollup reads: the functions over bronze are made for these types. */
    readonly columns: Readonly<Record<string, string>>;
    readonly measures: Readonly<Record<string, string>>;
  };
}

export function definitionOf({ settings, keys, ids, measures, columns, times }: Rollup): Definition {
  const { bronze, gold, window, watermark, seal, publish } = settings;
  return {
    gold: `${gold.schema}.${gold.name}`,
    window: flat(window),
    key: keys.map((key) => `${key.name} ${key.type}`),
    measures: Object.fromEntries(measures.map((measure) => [measure.name, measure.expression])),
    source: {
      event_id: bronze.eventId.join(', '),
      identity: bronze.identity,
      event_time: bronze.eventTime,
      ingested_at: bronze.ingestedAt,
      arrived_at: bronze.arrivedAt ?? bronze.ingestedAt,
      source_partition: bronze.sourcePartition ?? '',
      heartbeat: bronze.heartbeat ?? '',
      time_zone: bronze.timeZone ?? '',
    },
    seal: seal.by,
    policies: {
      table: `${bronze.table.schema}.${bronze.table.name}`,
      ...(bronze.trackChanges ? { track_changes: 'true' } : {}),
      ...(settings.partials ? { partials: 'true' } : {}),
      ...(bronze.deletes === 'retention' ? { deletes: 'retention' } : {}),
      ...flat(watermark),
      allowed_lateness: String(settings.allowedLateness.microseconds),
      ...(settings.allowedLatenessColumn ? { allowed_lateness_column: settings.allowedLatenessColumn } : {}),
      seal_after: String(seal.after.microseconds),
      policy: publish.policy,
      horizon: String(publish.horizon?.microseconds ?? ''),
      ...thresholdsOf(publish.reviewBeyond),
      ...(publish.restate ? { restate: publish.restate } : {}),
    },
    types: {
      columns: typesOf([
        ...columns,
        ...ids,
        ...Object.values(times).filter((column) => column !== undefined),
      ]),
      measures: typesOf(measures),
    },
  };
}

function thresholdsOf(reviewBeyond: PublishSettings['reviewBeyond']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reviewBeyond).map(([name, threshold]) => [`review_beyond ${name}`, canonical(threshold)]),
  );
}

function typesOf(columns: readonly Column[]): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type]));
}

/** 16 hexadecimal digits of the SHA-256 over the definition, its members in a fixed order. */
export function fingerprintOf(definition: Definition): string {
  return createHash('sha256').update(canonical(definition)).digest('hex').slice(0, 16);
}

/** Whether a rollup was migrated under this definition; types that an older version did not store count as equal. */
export function isMigrated(
  known: { readonly fingerprint: string; readonly definition: Definition },
  now: Definition,
): boolean {
  if (known.definition.types) return known.fingerprint === fingerprintOf(now);
  const { types: _, ...untyped } = now;
  return known.fingerprint === fingerprintOf(untyped);
}

/** @throws Failure if the new definition would give the published numbers another meaning. */
export function refuseOtherMeaning(name: string, old: Definition, now: Definition): void {
  const changes: string[] = [];
  const compare = (what: string, before: unknown, after: unknown) => {
    if (canonical(before) !== canonical(after))
      changes.push(`${what}: ${canonical(before)} is now ${canonical(after)}`);
  };
  compare('gold', old.gold, now.gold);
  compare('window', old.window, now.window);
  compare('key', old.key, now.key);
  compare('bronze', old.source, now.source);
  compare('seal', old.seal, now.seal);
  const hints = [
    'published versions keep the meaning they had: give the new definition a new name and a new gold table, and keep the old rollup for its history',
  ];
  for (const [measure, expression] of Object.entries(old.measures)) {
    const [before, after] = [old.types?.measures[measure], now.types?.measures[measure]];
    const expressionNow = now.measures[measure];
    // The way out of another type of a bronze column: the same aggregate, cast to the type that the ledger has.
    if (before !== undefined && expressionNow === castTo(expression, before) && before === after) continue;
    compare(`measure ${measure}`, expression, expressionNow ?? 'left out');
    if (before === undefined || after === undefined || before === after || expression !== expressionNow)
      continue;
    compare(`type of measure ${measure}`, before, after);
    hints.push(`or keep its type: ${measure}: ${castTo(expression, before)}`);
  }
  if (changes.length === 0) return;
  throw new Failure(`rollup "${name}" cannot be changed in place`, {
    detail: changes.join('\n'),
    hint: hints.join('; '),
    exitCode: 2,
  });
}

function castTo(expression: string, type: string): string {
  return `(${expression})::${type}`;
}

function flat(settings: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => {
      if (value === undefined) return [];
      if (typeof value === 'object' && 'microseconds' in value) return [[name, `${value.microseconds} us`]];
      return [[name, typeof value === 'object' ? canonical(value) : String(value)]];
    }),
  );
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
