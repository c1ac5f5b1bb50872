/** Copies: further rows with an event id already seen in the window (R5), in the windows that this run seals or corrects. */
import { execute, query } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';
import { ingestedFrom } from './ingested-from.ts';
import { planned } from './planned.ts';
import type { Scan } from './scan.ts';
import { hasSessions, recordSessionCopies } from './sessions.ts';
import { skewOf } from './watermark.ts';

/**
 * What a page of the index costs where many ids are looked up, beside 1 for a page that is read in sequence. At the
 * server's 4 a thousand ids make the planner read all of bronze: it expects a row of each id in every ingestion partition,
 * and takes pages that are in memory by then for read from disk. ARCHITECTURE.md has the figures.
 */
const repeatedPageCost = '1.1';

/** The planner takes the rows of the windows that are sealed for a few, and would sort them all to group them. */
const unsorted = { enable_sort: 'off' };

/** @returns how many copies are recorded anew or counted again. */
export async function findCopies(run: RunContext, sealing: Sealing, scanned: Scan): Promise<number> {
  if (run.rollup.settings.bronze.identity === 'unique_rows') return 0;
  if (hasSessions(run.rollup)) return await recordSessionCopies(run);
  const { transaction, statements, bound } = run;
  const { pipeline } = statements;
  let found = 0;
  if (sealing.from !== sealing.to) {
    const span = {
      sealing_from: sealing.from,
      events_to: sealing.eventsTo,
      ingested_from: sealing.ingestedFrom,
      bound,
    };
    const { rows } = await execute<{ is_none: boolean }>(transaction, pipeline.copies_none, span);
    if (!rows[0]?.is_none) {
      const values = { ...span, sealing_to: sealing.to };
      found += (
        await planned(transaction, unsorted, () => execute(transaction, pipeline.copies_sealing, values))
      ).count;
    }
  }
  found += await findLateIds(run, sealing, scanned);
  if (found === 0) return 0;
  await query(transaction, 'analyze pg_temp.errata_same_id');
  const { count } = await execute(transaction, pipeline.copies, {
    bound,
    transaction: run.snapshot.transaction,
    run_id: run.runId,
  });
  return count;
}

/**
 * The rows of bronze that bear the id of a late or straggling row: in its window, and in others too where an index answers (R5).
 * @param sealing the windows whose own copies are not asked for
 */
export async function findLateIds(
  run: RunContext,
  sealing: Pick<Sealing, 'from' | 'to'>,
  scanned: Scan,
): Promise<number> {
  const { transaction, statements, rollup } = run;
  const everywhere = scanned.idSpans !== undefined;
  const late = await execute(transaction, statements.pipeline.copies_ids, {
    sealing_from: sealing.from,
    sealing_to: sealing.to,
    everywhere,
  });
  if (late.count === 0) return 0;
  await query(transaction, 'analyze pg_temp.errata_late_id');
  if (everywhere) {
    await noteIdSpans(run, scanned);
    return (await execute(transaction, statements.pipeline.copies_everywhere)).count;
  }
  const [span] = await query<{ from: string; to: string }>(
    transaction,
    'select min(l.window_start)::text as "from", max(l.window_end)::text as "to" from pg_temp.errata_late_id as l',
  );
  const { ingested_from: from, has_released: hasReleased } = await ingestedFrom(run, span);
  const [cost] = await query<{ lowered: string }>(
    transaction,
    `select least(current_setting('random_page_cost')::float8, $1::float8)::text as lowered`,
    [repeatedPageCost],
  );
  const { count } = await planned(transaction, { random_page_cost: cost?.lowered ?? repeatedPageCost }, () =>
    execute(transaction, statements.pipeline.copies_late, {
      ingested_from: from,
      // a row that a person let out of quarantine may be farther ahead of its arrival than any other
      skew: hasReleased ? null : skewOf(rollup),
    }),
  );
  return count;
}

/** Where late ids can be: the less, the fewer ingestion partitions are looked into. */
async function noteIdSpans(
  { transaction, statements, rollup }: RunContext,
  { partitions, idSpans = new Map() }: Scan,
): Promise<void> {
  const isInstant = rollup.times.ingestedAt.type.endsWith('with time zone');
  const spans = partitions.map((partition) => idSpans.get(partition.relation_id));
  await execute(transaction, statements.pipeline.id_spans, {
    lowers: partitions.map((partition) => (isInstant && partition.lower_bound) || ''),
    uppers: partitions.map((partition) => partition.upper_bound ?? ''),
    event_ids_from: spans.map((span) => span?.event_id_from ?? ''),
    event_ids_to: spans.map((span) => span?.event_id_to ?? ''),
    are_known: spans.map((span) => String(span !== undefined)),
    are_empty: partitions.map((partition) => String(partition.is_empty || partition.is_beyond_bound)),
  });
  await query(transaction, 'analyze pg_temp.errata_id_span');
}
