/**
 * Sessions go the same way as other windows, but follow from the rows themselves: what a row joins depends on what the
 * rows before it joined (R6s). Here is what the stages do for them; `sql/rollup/sessions/fold.sql` is the loop.
 */
import { microseconds } from '../catalog/describe.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { execute, query } from '../db/statement.ts';
import type { Reading, RunContext } from './context.ts';
import { setRowsAside, setSessionsAside, withoutFailing } from './failing.ts';
import { ingestedFrom } from './ingested-from.ts';
import { releasedCauses } from './released-causes.ts';
import { parametersOf } from './scan.ts';
import { greatestDelay } from './watermark.ts';

export function hasSessions({ settings }: Rollup): boolean {
  return settings.window.kind === 'session';
}

/** Joins the new rows to sessions. @returns how many are late or straggling; they stand in pg_temp.errata_candidate. */
export async function joinSessions(
  run: RunContext,
  readings: readonly Reading[],
  regroups: boolean,
): Promise<number> {
  const { transaction, statements, rollup } = run;
  const { sessions } = statements;
  const { watermark, allowedLateness, bronze } = rollup.settings;
  await execute(transaction, sessions.work);
  const slowest = watermark.strategy === 'fixed_delay' ? await greatestDelay(run) : null;
  let arrived = 0;
  for (const reading of readings) {
    if (reading.summary.oldest_ingested_at === null) continue;
    const { count } = await execute(
      transaction,
      statements.withConstraint('sessions/rows', reading.partition.constraint_text),
      {
        ...parametersOf(run, reading),
        rollup_id: rollup.id,
        oldest: reading.summary.oldest_ingested_at,
        allowed_lateness: microseconds(allowedLateness),
        sealed_before: run.sealedBefore,
        fixed_delay:
          watermark.strategy === 'fixed_delay' && watermark.delay ? microseconds(watermark.delay) : null,
        baseline: run.verb === 'baseline',
        slowest,
      },
    );
    arrived += count;
  }
  if (arrived === 0) return 0;
  await query(transaction, 'analyze pg_temp.errata_arrived');
  await execute(transaction, sessions.arrivals);
  await query(transaction, 'analyze pg_temp.errata_arrival');
  if (bronze.identity !== 'unique_rows') {
    await execute(transaction, sessions.twins);
    await query(transaction, 'analyze pg_temp.errata_twin');
  }
  await execute(transaction, sessions.fold, {
    frontier: run.frontier,
    regroups,
    run_id: run.runId,
  });
  await query(transaction, 'analyze pg_temp.errata_joined');
  const { count } = await execute(transaction, sessions.record);
  await tellJoinedCopies(run, false);
  const { rows } = await execute<{ is_large: boolean }>(transaction, sessions.growth, { joined: arrived });
  // Without statistics of them the joins that follow are nested loops: 300,000 rows took more than seven minutes.
  if (rows[0]?.is_large) await query(transaction, `analyze ${statements.sessionTables.join(', ')}`);
  return count;
}

/** Rows with one id counted in two sessions each, and a further row joined the two: the first of them counts (R5). */
async function tellJoinedCopies(run: RunContext, regrouped: boolean): Promise<void> {
  if (run.rollup.settings.bronze.identity === 'unique_rows') return;
  const { transaction, bound, runId } = run;
  const { repeated, joined_copies } = run.statements.sessions;
  await query(transaction, 'truncate pg_temp.errata_repeated');
  const { count } = await execute(transaction, repeated, { run_id: runId, regrouped });
  if (count === 0) return;
  await query(transaction, 'analyze pg_temp.errata_repeated');
  const [span] = await query<{ from: string | null; to: string | null }>(
    transaction,
    `select min(r.window_start)::text as "from", max(r.window_end)::text as "to" from pg_temp.errata_repeated as r`,
  );
  await execute(transaction, joined_copies, {
    events_from: span?.from ?? null,
    events_to: span?.to ?? null,
    ingested_from: (await ingestedFrom(run, span)).ingested_from,
    bound,
    run_id: runId,
  });
}

/** @returns how many copies are new. */
export async function recordSessionCopies(run: RunContext): Promise<number> {
  const parameters = { run_id: run.runId, since: run.bound, rollup_id: run.rollup.id };
  return (await execute(run.transaction, run.statements.sessions.copies, parameters)).count;
}

/** An entry of the stream's refused rows may name a copy. */
export async function answerCopies(run: RunContext): Promise<void> {
  const parameters = { rollup_id: run.rollup.id, run_id: run.runId };
  await execute(run.transaction, run.statements.sessions.refused_copies, parameters);
}

/** What is kept by window follows the rows of replaced sessions, and those become void in this run. */
export async function moveSessions(run: RunContext, until: string | null): Promise<void> {
  await execute(run.transaction, run.statements.sessions.moves, {
    run_id: run.runId,
    since: run.bound,
    until,
  });
}

/** Rows that a person released, in this run or before, regroup the sessions then sealed, once their own is. */
export async function regroupSessions(run: RunContext, until: string): Promise<void> {
  const { transaction, statements } = run;
  await query(transaction, 'truncate pg_temp.errata_arrival, pg_temp.errata_joined');
  const { count } = await execute(transaction, statements.sessions.regroup_rows, { sealed_until: until });
  if (count === 0) return;
  await execute(transaction, statements.sessions.regroup, { sealed_until: until, run_id: run.runId });
  await execute(transaction, statements.sessions.regroup_record, { run_id: run.runId });
  await tellJoinedCopies(run, true);
  await moveSessions(run, until);
}

/** @returns how many versions 1 were written, and how many sessions wait for one since bronze misses rows of them. */
export async function sealSessions(
  run: RunContext,
  until: string,
  stamp: string,
): Promise<{ sealed: number; waiting: number }> {
  const { sealed, waiting } = await sealDueOrShort(run, until, stamp);
  const { count } = await execute(run.transaction, run.statements.sessions.sealed_again, {
    run_id: run.runId,
    rollup_id: run.rollup.id,
  });
  return { sealed, waiting: waiting - count };
}

async function sealDueOrShort(
  run: RunContext,
  until: string,
  stamp: string,
): Promise<{ sealed: number; waiting: number }> {
  const first = await sealDue(run, until, stamp);
  if (first.waiting === 0) return first;
  const { transaction, statements } = run;
  const { count } = await execute(transaction, statements.sessions.short, {
    rollup_id: run.rollup.id,
  });
  if (count === 0) return first;
  await amendSessions(run);
  await query(
    transaction,
    'truncate pg_temp.errata_amended, pg_temp.errata_session_target, pg_temp.errata_session_member, pg_temp.errata_session_value',
  );
  const second = await sealDue(run, until, stamp);
  return { sealed: first.sealed + second.sealed, waiting: second.waiting };
}

async function sealDue(
  run: RunContext,
  until: string,
  stamp: string,
): Promise<{ sealed: number; waiting: number }> {
  const { transaction, statements } = run;
  await execute(transaction, statements.sessions.due, { until, complete_from: run.completeFrom });
  const sessions = await evaluateSessions(run, true);
  if (sessions === 0) return { sealed: 0, waiting: 0 };
  const { count } = await execute(transaction, statements.sessions.seal, {
    run_id: run.runId,
    stamp,
    actor: run.actor,
    reason: run.reason,
    definition_fingerprint: run.fingerprint,
  });
  return { sealed: count, waiting: sessions - count };
}

/** In sessions whose bronze rows were deleted or changed, what is there now counts. */
export async function amendSessions(run: RunContext): Promise<void> {
  await query(run.transaction, 'analyze pg_temp.errata_amended');
  const { sessions, failing } = run.statements;
  const values = { run_id: run.runId, released_causes: releasedCauses[run.rollup.settings.publish.policy] };
  await withoutFailing(
    run,
    (isWithout) =>
      execute(run.transaction, isWithout ? failing.without.amend_sessions : sessions.amend, values),
    () => setRowsAside(run),
  );
}

/** What was noted of single rows is asked of the sessions that they joined. */
export async function touchSessions(run: RunContext, until: string | null): Promise<void> {
  await execute(run.transaction, run.statements.sessions.touched);
  await execute(run.transaction, run.statements.sessions.asked, { run_id: run.runId, since: run.bound });
  await execute(run.transaction, run.statements.sessions.without_session, { until });
  await execute(run.transaction, run.statements.sessions.standing, {
    rollup_id: run.rollup.id,
    since: run.bound,
  });
}

/** What a person's word is about, with all that stands proposed of the same rows. @returns how many proposals came to it. */
export async function askTogether(run: RunContext): Promise<number> {
  const { rows } = await execute<{ proposals: number }>(
    run.transaction,
    run.statements.sessions.asked_together,
    { rollup_id: run.rollup.id },
  );
  return rows[0]?.proposals ?? 0;
}

/** Where the number of windows is limited: what a taken session replaced goes with it. */
export async function takeLinkedSessions(run: RunContext, until: string): Promise<void> {
  await execute(run.transaction, run.statements.sessions.linked, { until });
}

export async function askForUnsealedSessions(run: RunContext, until: string): Promise<void> {
  await execute(run.transaction, run.statements.sessions.unsealed, { until, since: run.bound });
}

export async function recomputeSessions(run: RunContext): Promise<void> {
  await execute(run.transaction, run.statements.sessions.members);
  if ((await evaluateSessions(run, false)) === 0) return;
  await execute(run.transaction, run.statements.sessions.recompute);
}

/**
 * Counts the rows of the sessions in the work table, from which those of which a measure cannot be computed are taken
 * out (R19). @returns how many sessions are left.
 */
async function evaluateSessions(run: RunContext, isUnsealed: boolean): Promise<number> {
  const { transaction, statements, bound } = run;
  await query(transaction, 'analyze pg_temp.errata_session_member');
  await execute(transaction, statements.sessions.recorded);
  await query(transaction, 'analyze pg_temp.errata_session_target');
  const [span] = await query<{ sessions: string; from: string | null; to: string | null }>(
    transaction,
    `select count(*) as sessions, min(t.window_start)::text as "from", max(t.window_end)::text as "to"
     from pg_temp.errata_session_target as t`,
  );
  const sessions = Number(span?.sessions ?? 0);
  if (sessions === 0) return 0;
  const values = {
    events_from: span?.from ?? null,
    events_to: span?.to ?? null,
    ingested_from: (await ingestedFrom(run, span)).ingested_from,
    bound,
  };
  await withoutFailing(
    run,
    () => execute(transaction, statements.sessions.values, values),
    () => setSessionsAside(run, values, isUnsealed),
  );
  await query(transaction, 'analyze pg_temp.errata_session_value');
  const [left] = await query<{ sessions: string }>(
    transaction,
    'select count(*) as sessions from pg_temp.errata_session_target',
  );
  return Number(left?.sessions ?? 0);
}
