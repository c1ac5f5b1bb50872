/**
 * Errata in a program of one's own. It uses the pool that it is given and ends nothing of it, keeps no state but the
 * settings, reads no environment and writes nowhere but the database and the logger.
 */
import type pg from 'pg';
import { openRollup, selectRollups } from './catalog/open.ts';
import type { Rollup } from './catalog/rollup.ts';
import { readDuration } from './config/duration.ts';
import { readInstant } from './config/instant.ts';
import type { RollupSettings, Settings } from './config/settings.ts';
import { type Control, controlOf } from './db/control.ts';
import { textPool } from './db/pool.ts';
import { inTransaction } from './db/transaction.ts';
import { Failure } from './failure.ts';
import { migrateAll } from './install/install.ts';
import type { MigratedRollup } from './install/migrated.ts';
import { databaseFailure } from './output/database-failure.ts';
import { defect } from './output/failure-text.ts';
import { outcomeOf, type RollupResult } from './output/rollup-result.ts';
import { holdBronze } from './pipeline/begin.ts';
import type { RunReport } from './pipeline/report.ts';
import { planRollup, type SpineOptions } from './pipeline/run.ts';
import { runInParts } from './pipeline/runs.ts';
import { type Answer, ask } from './report/explain/ask.ts';
import { keyOf } from './report/key-of.ts';
import { publishedRollup } from './report/published-rollup.ts';
import { spanOfPeriod } from './report/reconcile/period.ts';
import { type Reconciliation, reconcile } from './report/reconcile/reconcile.ts';
import { windowOf } from './report/window-of.ts';

/** What pino's loggers, and the console, offer. */
export interface Logger {
  info(about: object, message: string): void;
  error(about: object, message: string): void;
}

export interface ErrataOptions {
  /** Of PostgreSQL 15 or newer; it stays yours, its type parsers too. A run takes one connection. */
  readonly pool: pg.Pool;
  /** By `readSettings(file, environment)` or `parseSettings(text, name, environment)`; their `database` is not looked at. */
  readonly settings: Settings;
  /** Default: silence. */
  readonly logger?: Logger;
}

export interface PlanOptions {
  /** Names; none: all of the settings. */
  readonly rollups?: readonly string[];
  /** An instant as text; default: the database's clock. */
  readonly bound?: string;
  readonly maxWindows?: number;
}

export interface RunRequest extends PlanOptions {
  /** Cuts a long history into runs of so much ingestion time, as in `1 day`. */
  readonly step?: string;
  /** With `maxWindows`: in further runs, until nothing is left for one. */
  readonly untilDone?: boolean;
  /** Ends between two runs, never within one. */
  readonly signal?: AbortSignal;
}

export interface ReconcileRequest {
  /** As in `2026-10`; or windows from `from` on, and before `to`. */
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
  /** `COLUMN=VALUE`, or values in the order of the key. */
  readonly key?: readonly string[];
  readonly actor?: string;
  readonly signal?: AbortSignal;
}

export interface Errata {
  /** Makes the control tables and every rollup's relations, or brings them up to date. @throws Failure */
  migrate(): Promise<{ readonly migrations: readonly string[]; readonly rollups: readonly MigratedRollup[] }>;
  /** What a run would do; nothing is written. One that fails does not stop the others. @throws Failure for what was asked */
  plan(options?: PlanOptions): Promise<RollupResult[]>;
  /** One that fails, or that another run holds, does not stop the others: its result says so. @throws Failure for what was asked */
  run(options?: RunRequest): Promise<RollupResult[]>;
  /** The whole life of one number (R7, R14). @throws Failure if the window or the key cannot be meant */
  explain(rollup: string, window: string, key?: readonly string[]): Promise<Answer>;
  /** Counts windows anew from bronze, and keeps what it finds (R14). @throws Failure */
  reconcile(rollup: string, request: ReconcileRequest): Promise<Reconciliation>;
}

/** Connects to nothing yet. */
export function createErrata({ pool, settings, logger }: ErrataOptions): Errata {
  const control = controlOf(textPool(pool), settings.schema);
  const over = (names: readonly string[], work: (rollup: Rollup) => Promise<RunReport>) =>
    overRollups(control, settings, names, work, logger);
  return {
    migrate: () =>
      clear(async () => {
        const { migrations, rollups } = await migrateAll(control, settings);
        return { migrations, rollups };
      }),
    plan: async ({ rollups = [], ...options } = {}) =>
      await over(rollups, (rollup) => planRollup(control, rollup, spine(options))),
    run: async ({ rollups = [], step, untilDone, signal, ...options } = {}) => {
      const parts = { ...spine(options), step: stepOf(step), untilDone, signal };
      return await over(rollups, (rollup) => runInParts(control, rollup, parts));
    },
    explain: (name, window, key = []) =>
      clear(() =>
        inTransaction(control, 'repeatable read', async (transaction) => {
          const rollup = await publishedRollup(transaction, settings, chosenOf(settings, name));
          return await ask(transaction, rollup, window, key);
        }),
      ),
    reconcile: (name, request) => clear(() => reconciled(control, settings, name, request)),
  };
}

async function overRollups(
  control: Control,
  settings: Settings,
  names: readonly string[],
  work: (rollup: Rollup) => Promise<RunReport>,
  logger: Logger | undefined,
): Promise<RollupResult[]> {
  const results: RollupResult[] = [];
  for (const chosen of selectRollups(settings, names)) {
    const { name } = chosen;
    const result: RollupResult = await openRollup(control, settings, chosen)
      .then(work)
      .then(
        (report) => ({ rollup: name, report }),
        (error: unknown) => ({
          rollup: name,
          failure: databaseFailure(error, { rollup: name }) ?? defect(error),
        }),
      );
    const outcome = outcomeOf(result);
    if (result.failure)
      logger?.error({ rollup: name, outcome, failure: result.failure.message }, 'rollup ends');
    else logger?.info({ rollup: name, outcome, counts: result.report.counts }, 'rollup ends');
    results.push(result);
  }
  return results;
}

async function reconciled(
  control: Control,
  settings: Settings,
  name: string,
  { period, from, to, key, actor, signal }: ReconcileRequest,
): Promise<Reconciliation> {
  if ((period === undefined) === (from === undefined && to === undefined))
    throw wrong('a reconciliation needs a period, or one of `from` and `to`');
  const rollup = await openRollup(control, settings, chosenOf(settings, name));
  const span = await inTransaction(control, 'read committed', async (transaction) => {
    if (period !== undefined) return await spanOfPeriod(transaction, rollup, period);
    const start = async (text: string | undefined, option: string) =>
      text === undefined ? null : (await windowOf(transaction, rollup, text, option)).window_start;
    return { from: await start(from, 'from'), to: await start(to, 'to') };
  });
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    await holdBronze(transaction, rollup);
    return await reconcile(transaction, rollup, span, {
      period,
      key: key && keyOf(rollup, key),
      actor,
      signal,
    });
  });
}

function chosenOf(settings: Settings, name: string): RollupSettings {
  const [chosen] = selectRollups(settings, [name]);
  return chosen as RollupSettings;
}

/** @throws Failure, for what cannot be meant. */
function spine({ bound, maxWindows }: PlanOptions): SpineOptions {
  const reading = bound === undefined ? {} : readInstant(bound);
  if ('wrong' in reading) throw wrong(`bound ${JSON.stringify(bound)} ${reading.wrong}`);
  if (maxWindows !== undefined && !(Number.isSafeInteger(maxWindows) && maxWindows > 0))
    throw wrong(`maxWindows ${maxWindows} is no number of windows`);
  return { bound, maxWindows };
}

function stepOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const reading = readDuration(text);
  if ('wrong' in reading) throw wrong(`step ${JSON.stringify(text)} ${reading.wrong}`);
  if (reading.value.microseconds === 0n) throw wrong(`step ${JSON.stringify(text)} has no length`);
  return reading.value;
}

function wrong(message: string): Failure {
  return new Failure(message, { exitCode: 2 });
}

/** What the database throws comes as a Failure: fact, detail and hint. */
async function clear<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw databaseFailure(error) ?? error;
  }
}
