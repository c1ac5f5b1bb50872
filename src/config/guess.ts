import { whyReserved } from './ledger-column.ts';
import { goldNameBytes, measureNameBytes, plainName } from './name.ts';

/** An existing table as the catalog describes it. */
export interface DescribedTable {
  readonly schema: string;
  readonly name: string;
  /** In the order of the table; `type` as `format_type` writes it, such as `timestamp with time zone`. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Empty: none. */
  readonly primaryKey: readonly string[];
  /** Plain columns only: without expression and partial indexes. */
  readonly indexes: readonly { readonly columns: readonly string[]; readonly unique: boolean }[];
  /** Empty: not partitioned. */
  readonly partitionKey: readonly string[];
}

/** What a table's columns may well mean. Undefined: no column looks like it. */
export interface Guess {
  readonly rollup: string;
  readonly eventId: readonly string[];
  readonly eventTime: string | undefined;
  readonly ingestedAt: string | undefined;
  readonly sourcePartition: string | undefined;
  /** Whether a time column lacks a zone. */
  readonly needsTimeZone: boolean;
  readonly key: readonly string[];
  readonly measures: readonly { readonly name: string; readonly expression: string }[];
}

const ingestion = /ingest|load|insert|receiv|land|arriv|process|creat|written|stored|sync/i;
const happening = /event|occur|happen|order|click|paid|sold|trade|measured|start|time|_at$|^ts$|_ts$/i;
const identifier = /(^|_)(id|uuid|guid|key|number|no|code|offset|partition|shard|version|seq|sequence)$/i;
const notAmount =
  /(^|_)(year|month|day|hour|lat|latitude|lon|lng|longitude|zip|port|level|rank|status|flag)$/i;
const label =
  /region|country|store|shop|site|page|channel|categor|type|currency|product|tenant|segment|market|folder/i;

/** PostgreSQL's reserved words (`pg_get_keywords()`, catcode R), which a column's name has to be quoted for. */
const reserved: ReadonlySet<string> = new Set(
  'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default deferrable desc distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit localtime not null offset on only or order placing primary references returning select session_user some symmetric table then to trailing true union unique user using variadic when where window with'.split(
    ' ',
  ),
);

export function guess(table: DescribedTable): Guess {
  const { columns, partitionKey } = table;
  const times = columns.filter(({ type }) => /^timestamp/.test(type));
  // Bronze is usually partitioned by ingestion time, which tells more than a name.
  const ingested =
    times.find(({ name }) => partitionKey.includes(name)) ??
    times.find(({ name }) => ingestion.test(name)) ??
    times.at(1);
  const others = times.filter((column) => column !== ingested);
  const happened =
    others.find(({ name }) => happening.test(name) && !ingestion.test(name)) ??
    others.find(({ name }) => !ingestion.test(name)) ??
    others.at(0);
  const eventId = guessEventId(table, [...partitionKey, ...times.map(({ name }) => name)]);
  const taken = new Set([...eventId, ...partitionKey]);
  const key = columns
    .filter(
      ({ name, type }) => !taken.has(name) && /^(text|character|boolean)/.test(type) && label.test(name),
    )
    .map(({ name }) => name)
    .filter((name) => whyReserved(name, []) === undefined)
    .slice(0, 1);
  return {
    rollup: plainly(`daily_${table.name}`, goldNameBytes) ?? 'daily_events',
    eventId,
    eventTime: happened?.name,
    ingestedAt: ingested?.name,
    sourcePartition: columns.find(({ name }) => /partition|shard/i.test(name))?.name,
    needsTimeZone: [happened, ingested].some((column) => column?.type.includes('without time zone')),
    key,
    measures: guessMeasures(table, taken, key),
  };
}

function guessEventId(table: DescribedTable, neverAlone: readonly string[]): readonly string[] {
  // The key of a partitioned table has to hold the partition key, which tells nothing about the event.
  const candidates = [
    table.primaryKey,
    ...table.indexes.filter(({ unique }) => unique).map(({ columns }) => columns),
  ];
  for (const candidate of candidates) {
    const telling = candidate.filter((name) => !table.partitionKey.includes(name));
    if (telling.some((name) => !neverAlone.includes(name))) return telling;
  }
  const named = table.columns.find(({ name }) => /^(event_?id|id|uuid)$/i.test(name));
  const like = named ?? table.columns.find(({ name }) => /(^|_)(id|uuid)$/i.test(name));
  return like === undefined ? [] : [like.name];
}

function guessMeasures(
  table: DescribedTable,
  taken: ReadonlySet<string>,
  key: readonly string[],
): Guess['measures'] {
  const found: { name: string; expression: string }[] = [];
  const add = (name: string | undefined, expression: string): void => {
    const names = found.map((measure) => measure.name);
    if (name === undefined || names.includes(name) || key.includes(name)) return;
    if (whyReserved(name, [...names, name])) return;
    found.push({ name, expression });
  };
  add(plainly(table.name, measureNameBytes), 'count(*)');
  if (found.length === 0) add('rows_counted', 'count(*)');
  for (const { name, type } of table.columns) {
    if (taken.has(name) || identifier.test(name) || notAmount.test(name)) continue;
    const column = quoted(name);
    if (/^(smallint|integer|bigint|numeric)/.test(type))
      add(plainly(name, measureNameBytes), `sum(${column})`);
    // A sum of floats depends on the plan (R13); money is read by the server's locale.
    if (/^(real|double precision|money)/.test(type)) {
      add(plainly(name, measureNameBytes), `sum(${column}::numeric)`);
    }
  }
  return found;
}

function plainly(text: string, bytes: number): string | undefined {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return plainName.test(plain) && plain.length <= bytes ? plain : undefined;
}

function quoted(name: string): string {
  return plainName.test(name) && !reserved.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
