/** Periods are closed and reopened by a person; what differs in a closed one is held (R12). */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, query } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunContext } from '../pipeline/context.ts';
import type { RunReport } from '../pipeline/report.ts';
import { runRollup, type SpineOptions } from '../pipeline/run.ts';

export interface Closing {
  readonly period: string;
  readonly actor: string;
  readonly reason: string;
  /** The database role whose members publish adjustments; left out: a hard close, nobody does. */
  readonly postingRole?: string | undefined;
  /** Though windows of the period are not sealed. */
  readonly isForced?: boolean | undefined;
}

export interface Reopening {
  readonly period: string;
  readonly actor: string;
  readonly reason: string;
  /** An instant. */
  readonly until: string;
}

export type ClosingReport = RunReport & {
  readonly period: string;
  readonly mark: string;
  /** Why windows of it are not sealed, where it was closed all the same. */
  readonly unsealed: string | null;
};
export type ReopeningReport = RunReport & { readonly period: string; readonly openUntil: string };

interface Period {
  readonly period: string;
  readonly period_start: string;
  readonly period_end: string;
  /** How it stands closed; null: it is open. */
  readonly act: 'soft_close' | 'hard_close' | null;
  readonly posting_role: string | null;
  readonly acted_at: string | null;
  readonly unsealed: string | null;
}

/** Where adjustments of this run are posted to; null where the calendar has no open period, or none was ever closed. */
export async function postingPeriod(run: RunContext, stamp: string): Promise<string | null> {
  const [closed] = await query<{ any: boolean }>(
    run.transaction,
    `select exists (select from ${quoteName(run.rollup.schema)}.period_act as a where a.rollup_id = $1) as any`,
    [run.rollup.id],
  );
  if (!closed?.any) return null;
  const { rows } = await execute<{ period: string }>(run.transaction, run.statements.periods.postingPeriod, {
    rollup_id: run.rollup.id,
    stamp,
  });
  return rows[0]?.period ?? null;
}

/**
 * Closes it as of the stamp of a run that publishes nothing else, and keeps what it comes to. @throws Failure, exit code 2,
 * if there is no such period, it is closed so already, or, unless forced, windows of it are not sealed.
 */
export async function closePeriod(
  control: Control,
  rollup: Rollup,
  closing: Closing,
  options: SpineOptions = {},
): Promise<ClosingReport> {
  let mark = '';
  let unsealed: string | null = null;
  const { name } = rollup.settings;
  const report = await runRollup(control, rollup, {
    ...options,
    verb: 'close',
    actor: closing.actor,
    reason: closing.reason,
    isAsked: true,
    atFrontier: true,
    judged: async (run, stamp) => {
      const period = await periodNamed(run, closing.period, stamp);
      const act = closing.postingRole === undefined ? 'hard_close' : 'soft_close';
      if (period.act !== null && (period.act === 'hard_close' || act === 'soft_close'))
        throw wrong(
          `period ${period.period} of rollup "${name}" is closed already`,
          closedText(period),
          'nothing was done',
        );
      if (period.unsealed !== null && !closing.isForced)
        throw wrong(
          `period ${period.period} of rollup "${name}" has windows that are not sealed`,
          period.unsealed,
          'run `errata run` first, or close it all the same with --force; nothing was done',
        );
      unsealed = period.unsealed;
      if (closing.postingRole !== undefined) await refuseUnknownRole(run, closing.postingRole);
      mark = await freeMark(run, `${name} ${period.period} close`);
      await execute(run.transaction, run.statements.periods.close, {
        rollup_id: rollup.id,
        run_id: run.runId,
        stamp,
        period: period.period,
        period_start: period.period_start,
        period_end: period.period_end,
        act,
        actor: closing.actor,
        reason: closing.reason,
        is_forced: period.unsealed !== null,
        posting_role: closing.postingRole ?? null,
        mark,
      });
    },
  });
  return { ...report, period: closing.period, mark, unsealed };
}

/** @throws Failure, exit code 2, if it is not closed, or the instant is not to come. */
export async function reopenPeriod(
  control: Control,
  rollup: Rollup,
  reopening: Reopening,
  options: SpineOptions = {},
): Promise<ReopeningReport> {
  const { name } = rollup.settings;
  const report = await runRollup(control, rollup, {
    ...options,
    verb: 'reopen',
    actor: reopening.actor,
    reason: reopening.reason,
    isAsked: true,
    atFrontier: true,
    judged: async (run, stamp) => {
      const period = await periodNamed(run, reopening.period, stamp);
      if (period.act === null)
        throw wrong(
          `period ${period.period} of rollup "${name}" is not closed`,
          undefined,
          'nothing was done',
        );
      const [expiry] = await query<{ is_past: boolean }>(
        run.transaction,
        'select $1::timestamptz <= $2::timestamptz as is_past',
        [reopening.until, stamp],
      );
      if (expiry?.is_past)
        throw wrong(
          `the reopening would have expired: ${reopening.until}`,
          `it is ${stamp} now`,
          'name an instant to come with --until',
        );
      await execute(run.transaction, run.statements.periods.reopen, {
        rollup_id: rollup.id,
        run_id: run.runId,
        stamp,
        period: period.period,
        period_start: period.period_start,
        period_end: period.period_end,
        actor: reopening.actor,
        reason: reopening.reason,
        expires_at: reopening.until,
      });
    },
  });
  return { ...report, period: reopening.period, openUntil: reopening.until };
}

async function periodNamed(run: RunContext, period: string, stamp: string): Promise<Period> {
  const { periods, name } = run.rollup.settings;
  const isMonth = periods.calendar === 'month';
  if (isMonth && !/^\d{4}-(0[1-9]|1[0-2])$/.test(period))
    throw wrong(`${JSON.stringify(period)} is not a month`, undefined, 'write one as in 2026-10');
  const { rows } = await execute<Period>(run.transaction, run.statements.periods.named, {
    rollup_id: run.rollup.id,
    period,
    stamp,
  });
  const [found] = rows;
  if (found) return found;
  throw wrong(
    `rollup "${name}" has no period ${JSON.stringify(period)}`,
    isMonth ? undefined : `${periods.table.schema}.${periods.table.name} has no row of that name`,
    'name a period of the calendar',
  );
}

async function refuseUnknownRole(run: RunContext, role: string): Promise<void> {
  const [found] = await query(run.transaction, 'select from pg_catalog.pg_roles as r where r.rolname = $1', [
    role,
  ]);
  if (!found)
    throw wrong(`there is no database role ${JSON.stringify(role)}`, undefined, 'create it, or name another');
}

/** A period that is closed, reopened and closed again has a mark for each close. */
async function freeMark(run: RunContext, name: string): Promise<string> {
  const [row] = await query<{ marks: string }>(
    run.transaction,
    `select count(*) as marks from ${quoteName(run.rollup.schema)}.mark as m where m.name = $1 or m.name like $2 || ' %'`,
    [name, name.replaceAll(/[\\%_]/g, '\\$&')],
  );
  return row?.marks === '0' ? name : `${name} ${Number(row?.marks) + 1}`;
}

function closedText({ act, posting_role: role, acted_at: at }: Period): string {
  return act === 'hard_close' ? `hard, at ${at}` : `soft, at ${at}: members of ${role} publish adjustments`;
}

function wrong(message: string, detail: string | undefined, hint: string): Failure {
  return new Failure(message, { detail, hint, exitCode: 2 });
}
