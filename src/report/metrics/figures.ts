/** What metrics and thresholds are made of, as data: each figure of a rollup at one instant, in seconds, counts and parts. */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import type { RollupSettings, Settings } from '../../config/settings.ts';
import type { Control } from '../../db/control.ts';
import { quoteName } from '../../db/identifiers.ts';
import { execute, prepare } from '../../db/statement.ts';
import { type ControlTransaction, inTransaction, type Limits } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { publishedRollup } from '../published-rollup.ts';

export interface ServerFigures {
  readonly noticesWaiting: number;
  /** Null: the role may not see other sessions. */
  readonly openTransactionSeconds: number | null;
  /** In the order of the settings; those that are not in the database are left out. */
  readonly rollups: readonly RollupFigures[];
}

export interface RollupFigures {
  readonly rollup: RollupSettings;
  readonly now: number;
  /** Instants, in seconds since 1970; null: there is none. */
  readonly createdAt: number;
  readonly lastRunAt: number | null;
  readonly lastSuccessAt: number | null;
  readonly frontier: number | null;
  readonly watermark: number | null;
  readonly answeredUntil: number | null;
  readonly reconciledAt: number | null;
  readonly lastRunFailed: boolean;
  readonly isPaused: boolean;
  readonly scheduleFailures: number;
  readonly openProposals: number;
  /** Of the last sweep; null: there was none. */
  readonly unexplained: number | null;
  /** Of the rows examined in the last day; null: none were. */
  readonly sideOutputShare: number | null;
  /** Of the last run that succeeded, in seconds. */
  readonly stages: Readonly<Record<string, number>>;
  /** Over all runs, by name. */
  readonly totals: Readonly<Record<string, number>>;
  /** What its own relations say; null: they cannot be read as the settings have it. */
  readonly own: OwnFigures | null;
}

export interface OwnFigures {
  readonly backlog: readonly { waitsFor: string; windows: number; ageSeconds: number }[];
  readonly pending: { readonly unreleased: number; readonly released: number };
  readonly lateness: readonly {
    /** Empty: the rows that name none. */
    readonly source: string;
    readonly percentiles: Readonly<Record<'50' | '90' | '99' | '100', number>>;
  }[];
}

interface StandingRow extends Readonly<Record<string, unknown>> {
  readonly rollup_id: number;
  readonly rollup: string;
  readonly at: string;
  readonly sealed_until: string | null;
  readonly complete_from: string;
  readonly recent_from_run: string | null;
}

export interface FigureOptions {
  /** Stands in for the database's clock. */
  readonly at?: string | undefined;
  readonly limits?: Limits;
  /** Only thresholds are asked for: late events are not read. */
  readonly withoutLateness?: boolean;
}

export async function readFigures(
  control: Control,
  settings: Settings,
  rollups: readonly RollupSettings[],
  options: FigureOptions = {},
): Promise<ServerFigures> {
  const schema = { schema: quoteName(settings.schema) };
  const at = options.at ?? null;
  const [rows, server] = await inTransaction(
    control,
    'repeatable read',
    async (transaction) => {
      const standing = await execute<StandingRow>(
        transaction,
        prepare('report/metrics/standing.sql', schema),
        {
          rollups: rollups.map(({ name }) => name),
          at,
        },
      );
      const one = await execute<Record<string, string | null>>(
        transaction,
        prepare('report/metrics/server.sql', schema),
        { at },
      );
      return [standing.rows, one.rows[0] ?? {}] as const;
    },
    options.limits,
  );
  const found: RollupFigures[] = [];
  for (const rollup of rollups) {
    const row = rows.find(({ rollup: name }) => name === rollup.name);
    if (row) found.push(figuresOf(rollup, row, await readOwn(control, settings, rollup, row, options)));
  }
  return {
    noticesWaiting: Number(server.notices_waiting),
    openTransactionSeconds: numberOf(server.open_transaction_seconds),
    rollups: found,
  };
}

/** In a transaction of its own, so that one rollup whose relations are not as the settings say hides no other. */
async function readOwn(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  row: StandingRow,
  options: FigureOptions,
): Promise<OwnFigures | null> {
  try {
    return await inTransaction(
      control,
      'repeatable read',
      async (transaction) =>
        await ownFigures(transaction, await publishedRollup(transaction, settings, chosen), row, options),
      options.limits,
    );
  } catch (error) {
    // the settings have another ledger than the database, or it is read in vain for too long
    if (error instanceof Failure || /^(42|57014|55P03)/.test((error as { code?: string }).code ?? ''))
      return null;
    throw error;
  }
}

async function ownFigures(
  transaction: ControlTransaction,
  rollup: Rollup,
  row: StandingRow,
  { withoutLateness }: FigureOptions,
): Promise<OwnFigures> {
  const bindings = bindingsOf(rollup);
  const queue = await execute<Record<string, string>>(transaction, prepare('report/queue.sql', bindings), {
    sealed_until: row.sealed_until,
    complete_from: row.complete_from,
    at: row.at,
  });
  const pending = await execute<Record<string, string>>(
    transaction,
    prepare('report/metrics/pending.sql', bindings),
  );
  const late =
    withoutLateness || row.recent_from_run === null
      ? []
      : (
          await execute<Record<string, string>>(
            transaction,
            prepare('report/metrics/lateness.sql', bindings),
            {
              first_run_id: row.recent_from_run,
            },
          )
        ).rows;
  const backlog = Object.entries(Object.groupBy(queue.rows, (part) => part.waits_for as string));
  return {
    backlog: backlog.map(([waitsFor, parts = []]) => ({
      waitsFor,
      windows: parts.reduce((sum, part) => sum + Number(part.keyed_windows), 0),
      ageSeconds: Math.max(...parts.map((part) => Number(part.age_seconds))),
    })),
    pending: {
      unreleased: Number(pending.rows[0]?.unreleased),
      released: Number(pending.rows[0]?.released),
    },
    lateness: late.map((part) => ({
      source: part.source_partition ?? '',
      percentiles: {
        '50': Number(part.half),
        '90': Number(part.nine_tenths),
        '99': Number(part.nearly_all),
        '100': Number(part.most),
      },
    })),
  };
}

function figuresOf(rollup: RollupSettings, row: StandingRow, own: OwnFigures | null): RollupFigures {
  const examined = numberOf(row.recent_rows) ?? 0;
  return {
    rollup,
    now: Number(row.now),
    createdAt: Number(row.created_at),
    lastRunAt: numberOf(row.last_run_at),
    lastSuccessAt: numberOf(row.last_success_at),
    frontier: numberOf(row.frontier),
    watermark: numberOf(row.watermark),
    answeredUntil: numberOf(row.due_at),
    reconciledAt: numberOf(row.reconciled_at),
    lastRunFailed: row.last_outcome === 'failed',
    isPaused: row.is_paused === true,
    scheduleFailures: numberOf(row.schedule_failures) ?? 0,
    openProposals: Number(row.open_proposals),
    unexplained: numberOf(row.unexplained),
    sideOutputShare: examined === 0 ? null : (numberOf(row.recent_side_output) ?? 0) / examined,
    stages: Object.fromEntries(
      Object.entries((row.stage_milliseconds as Record<string, number> | null) ?? {}).map(([stage, time]) => [
        stage,
        time / 1000,
      ]),
    ),
    totals: Object.fromEntries(
      Object.entries((row.totals as Record<string, string> | null) ?? {}).map(([name, total]) => [
        name,
        Number(total),
      ]),
    ),
    own,
  };
}

/** A figure for a graph: a double is exact enough, and no amount is among them. */
function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
