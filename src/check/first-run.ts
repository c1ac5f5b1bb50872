/** What a first run over the present history would cost, from what the catalogue tells of it. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { counted } from '../output/amount.ts';
import { bytesText } from '../output/bytes.ts';
import { plannedRead } from './planned-read.ts';

/** Estimates: whole numbers, null where nothing cheap tells. Instants are text. */
export interface FirstRun {
  readonly rows: number;
  readonly bytes: number;
  readonly partitions: number;
  readonly firstEvent: string | null;
  readonly lastEvent: string | null;
  readonly windows: number | null;
  readonly keyedWindows: number | null;
}

const statement = prepare('check/history.sql', {});
/** Up to this size, event times are read to find their bounds: about a second. */
const smallBytes = 64 * 1024 * 1024;

/** @param rows of bronze, as the planner sees them. @param isIndexed whether the bounds of event times cost nothing */
export async function estimateFirstRun(
  transaction: ControlTransaction,
  rollup: Rollup,
  rows: number,
  isIndexed: boolean,
): Promise<FirstRun> {
  const { settings, times, keys } = rollup;
  const { rows: found } = await execute<{
    bytes: string | null;
    partitions: number;
    first: string | null;
    last: string | null;
  }>(transaction, statement, { relation_id: rollup.relationId, column: times.eventTime.name });
  const history = found[0];
  const bytes = Number(history?.bytes ?? 0);
  const isCheap = rollup.hasRowAge && (isIndexed || bytes <= smallBytes);
  const span = isCheap
    ? await readBounds(transaction, rollup)
    : { first: history?.first ?? null, last: history?.last ?? null };
  const windows = await countWindows(transaction, settings, span);
  const groups =
    keys.length === 0
      ? 1
      : (
          await plannedRead(
            transaction,
            keys.map((key) => quoteName(key.name)),
            rollup,
            `group by ${keys.map((key) => quoteName(key.name)).join(', ')}`,
          )
        ).rows;
  return {
    rows,
    bytes,
    partitions: history?.partitions ?? 0,
    firstEvent: span.first,
    lastEvent: span.last,
    windows,
    keyedWindows: windows === null ? null : Math.min(windows * groups, rows),
  };
}

interface Span {
  readonly first: string | null;
  readonly last: string | null;
}

async function readBounds(transaction: ControlTransaction, rollup: Rollup): Promise<Span> {
  const { bronze, event_time_value: time } = bindingsOf(rollup);
  const one = (aggregate: string) =>
    `(select ${aggregate}(${time}) from ${bronze} as b where ${time} > '-infinity' and ${time} < 'infinity')::text`;
  const [row] = await query<Span>(transaction, `select ${one('min')} as first, ${one('max')} as last`);
  return row ?? { first: null, last: null };
}

const unitHours = { hour: 1, day: 24, week: 168, month: 730.5, quarter: 2191.5, year: 8766 } as const;

/** Windows between the first and the last event, counted by their usual width; null where none can be said. */
async function countWindows(
  transaction: ControlTransaction,
  { window }: Rollup['settings'],
  { first, last }: Span,
): Promise<number | null> {
  if (first === null || last === null) return null;
  const seconds =
    window.kind === 'calendar'
      ? window.count * unitHours[window.unit] * 3600
      : window.kind === 'tumbling'
        ? Number(window.size.microseconds) / 1e6
        : null;
  if (seconds === null) return null;
  const [row] = await query<{ windows: string }>(
    transaction,
    `select (floor(extract(epoch from $2::timestamptz - $1::timestamptz) / $3::numeric) + 1)::text as windows`,
    [first, last, String(seconds)],
  );
  return Number(row?.windows ?? 0);
}

/** One line: `about 240 rows, 24 kB, in 1 ingestion partition; about 10 windows from … to …, about 20 keyed windows` */
export function firstRunText({
  rows,
  bytes,
  partitions,
  firstEvent,
  lastEvent,
  windows,
  keyedWindows,
}: FirstRun): string {
  // A view has no size of its own.
  const parts = [`about ${counted(rows, 'row')}${bytes > 0 ? `, ${bytesText(bytes)}` : ''}`];
  if (partitions > 1) parts.push(`in ${counted(partitions, 'ingestion partition')}`);
  if (firstEvent === null || windows === null)
    return `${parts.join(' ')}; over how many windows, the catalogue does not tell (analyze the table)`;
  return `${parts.join(' ')}; about ${counted(windows, 'window')} from ${firstEvent} to ${lastEvent}, about ${counted(keyedWindows ?? 0, 'keyed window')}`;
}
