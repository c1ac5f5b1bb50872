/** The demo: both examples from an empty database to corrected gold, and what there is to see, as data. */

import type pg from 'pg';
import { openRollup } from '../../catalog/open.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { parseSettings } from '../../config/read-settings.ts';
import type { Settings } from '../../config/settings.ts';
import { type Control, controlOf } from '../../db/control.ts';
import { query } from '../../db/statement.ts';
import { inTransaction } from '../../db/transaction.ts';
import { migrateAll } from '../../install/install.ts';
import type { RunReport } from '../../pipeline/report.ts';
import { runRollup } from '../../pipeline/run.ts';
import { readCopies } from '../copies.ts';
import { type NamedEvent, readNamedEvents } from '../named-events.ts';
import { type MeasureCheck, type Recount, readSumCheck } from '../sum-check.ts';
import { type Example, exampleText, loadBronze } from './load.ts';
import { type MovedWindow, readMovedWindows } from './moved-windows.ts';

/** One history: what its runs did, and what they left. */
export interface DemoPart {
  readonly rollup: Rollup;
  readonly runs: readonly RunReport[];
  /** Counts of all runs together, as text. */
  readonly counts: Readonly<Record<string, string>>;
  readonly moved: readonly MovedWindow[];
  readonly refused: readonly NamedEvent[];
  readonly quarantined: readonly NamedEvent[];
  readonly conflicts: readonly NamedEvent[];
  /** Ids of rows that were delivered again with equal values; the first five. */
  readonly copies: readonly string[];
  /** Measures over bronze, counted by the plain SQL of the example's `recount.sql`. */
  readonly recount: Recount;
  readonly check: readonly MeasureCheck[];
}

export interface DemoReport {
  readonly orders: DemoPart;
  /** The sum check of 2026-10-29 over all regions. */
  readonly day: readonly MeasureCheck[];
  readonly git: DemoPart;
  readonly milliseconds: number;
}

/** The bounds of the orders' two runs: before order 8841 arrives, and after. */
export const ordersBounds = ['2026-11-01T00:00:00Z', '2026-11-04T00:00:00Z'] as const;

/** @param pool of an empty database. @param say told of each step as it begins. */
export async function playDemo(pool: pg.Pool, say: (step: string) => void): Promise<DemoReport> {
  const from = performance.now();
  say('loading 92,739 rows of bronze');
  await loadBronze(pool);
  const orders = await play(pool, 'orders', ordersBounds, say);
  const git = await play(pool, 'git', [undefined], say);
  const day = await checkOfDay(pool, orders.rollup);
  return { orders, day, git, milliseconds: Math.round(performance.now() - from) };
}

async function play(
  pool: pg.Pool,
  example: Example,
  bounds: readonly (string | undefined)[],
  say: (step: string) => void,
): Promise<DemoPart> {
  const settings = exampleSettings(example);
  const control = controlOf(pool, settings.schema);
  await migrateAll(control, settings);
  const rollup = await onlyRollup(control, settings);
  const runs: RunReport[] = [];
  for (const bound of bounds) {
    say(`running ${rollup.settings.name}${bound ? ` up to ${bound}` : ''}`);
    runs.push(await runRollup(control, rollup, { bound }));
  }
  return await found(control, rollup, example, runs);
}

async function found(
  control: Control,
  rollup: Rollup,
  example: Example,
  runs: readonly RunReport[],
): Promise<DemoPart> {
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    const [recount = {}] = await query<Recount>(transaction, exampleText(example, 'recount.sql'));
    const events = (landing: 'side_output' | 'quarantined' | 'conflict') =>
      readNamedEvents(transaction, rollup, { landings: [landing], atMost: 5 });
    return {
      rollup,
      runs,
      counts: addedUp(runs),
      moved: await readMovedWindows(transaction, rollup, 5),
      refused: await events('side_output'),
      quarantined: await events('quarantined'),
      conflicts: await events('conflict'),
      copies: (await readCopies(transaction, rollup, { atMost: 5 }))
        .filter((copy) => !copy.is_conflict)
        .map((copy) => copy.event_id),
      recount,
      check: await readSumCheck(transaction, rollup, recount),
    };
  });
}

async function checkOfDay(pool: pg.Pool, rollup: Rollup): Promise<MeasureCheck[]> {
  return await inTransaction(controlOf(pool, rollup.schema), 'read committed', (transaction) =>
    readSumCheck(transaction, rollup, undefined, {
      window_start: '2026-10-29 00:00:00+00',
      window_end: '2026-10-30 00:00:00+00',
    }),
  );
}

/** The example's own file. Its database is left to the pool: the demo says which it is. */
function exampleSettings(example: Example): Settings {
  return parseSettings(exampleText(example, 'errata.yaml'), `examples/${example}/errata.yaml`, {});
}

async function onlyRollup(control: Control, settings: Settings): Promise<Rollup> {
  const [chosen] = settings.rollups;
  if (!chosen) throw new Error(`${settings.file} declares no rollup`);
  return await openRollup(control, settings, chosen);
}

function addedUp(runs: readonly RunReport[]): Record<string, string> {
  const sums = new Map<string, bigint>();
  for (const { counts } of runs) {
    for (const [name, count] of Object.entries(counts))
      sums.set(name, (sums.get(name) ?? 0n) + BigInt(count));
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, String(sum)]));
}
