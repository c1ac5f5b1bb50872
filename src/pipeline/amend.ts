/**
 * Amend: where bronze rows of a taken window were deleted or changed, its copies and the states of its events are judged
 * by the rows that are there now (R5, R14); windows that miss an ingestion partition are left alone (R15).
 */
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { setRowsAside, withoutFailing } from './failing.ts';
import { ingestedFrom } from './ingested-from.ts';
import { releasedCauses } from './released-causes.ts';
import type { Scan } from './scan.ts';
import { amendSessions, hasSessions } from './sessions.ts';

export interface Amended {
  /** Keyed windows that are recomputed because a copy counts now. */
  readonly furtherWindows: number;
  /** Those windows hold rows in partitions that this run passed over: their counters had not arrived yet. */
  readonly hasUnread: boolean;
}

export async function amend(run: RunContext, scanned: Scan): Promise<Amended> {
  const { transaction, statements, bound, snapshot, runId } = run;
  const { pipeline } = statements;
  const { count } = await execute(transaction, pipeline.amend, {
    rollup_id: run.rollup.id,
    deletes_are_retention: run.rollup.settings.bronze.deletes === 'retention',
  });
  if (count === 0) return { furtherWindows: 0, hasUnread: false };
  if (hasSessions(run.rollup)) {
    await amendSessions(run);
    return { furtherWindows: 0, hasUnread: false };
  }
  await query(transaction, 'analyze pg_temp.errata_amended');
  const [span] = await query<{ from: string; to: string }>(
    transaction,
    'select min(a.window_start)::text as "from", max(a.window_end)::text as "to" from pg_temp.errata_amended as a',
  );
  const reading = {
    bound,
    ingested_from: (await ingestedFrom(run, span)).ingested_from,
    transaction: snapshot.transaction,
  };
  await execute(transaction, pipeline.amend_ids, {
    ...reading,
    relations_read: scanned.readings.map(({ partition }) => partition.relation_id),
  });
  const [unread] = await query<{ found: boolean }>(
    transaction,
    'select coalesce(bool_or(i.has_unread), false) as found from pg_temp.errata_amended_id as i',
  );
  await query(transaction, 'analyze pg_temp.errata_amended_id');
  await execute(transaction, pipeline.amend_rows, {
    ...reading,
    events_from: span?.from ?? null,
    events_to: span?.to ?? null,
  });
  await query(transaction, 'analyze pg_temp.errata_amended_row');
  await execute(transaction, pipeline.amend_clear);
  const further = await execute(transaction, pipeline.amend_copies, { run_id: runId, since: bound });
  const values = { run_id: runId, released_causes: releasedCauses[run.rollup.settings.publish.policy] };
  await withoutFailing(
    run,
    (isWithout) =>
      execute(
        transaction,
        isWithout ? statements.failing.without.amend_states : pipeline.amend_states,
        values,
      ),
    () => setRowsAside(run),
  );
  return { furtherWindows: further.count, hasUnread: unread?.found ?? false };
}
