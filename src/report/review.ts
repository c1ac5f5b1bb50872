/** The proposals of a rollup that stand open, or stood so at an instant: what each would make of its keyed window (R10). Amounts and instants are text. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { execute, prepare, query } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { counted } from '../output/amount.ts';
import { changeLines } from '../output/changes-text.ts';
import type { Change } from '../pipeline/report.ts';
import { shortInstant, spanText } from './instant-text.ts';
import { type KnownAt, type KnownAtFlags, knownAtText, statesKnownAt } from './known-at.ts';
import { publishedRollup } from './published-rollup.ts';
import { layOutThen } from './then.ts';

export interface OpenProposal extends Change {
  readonly proposal_id: string;
  /** The run that made it. */
  readonly run_id: string;
  /** The version that it was measured against; another than `old_version`: it is stale. */
  readonly base_version: number;
  readonly all_events: string;
  readonly proposed_at: string;
  readonly age_seconds: string;
}

export interface Review {
  readonly rollup: string;
  /** Null: as it is known now. */
  readonly known_at: KnownAt | null;
  /** How many there are; `proposals` holds the first of them. */
  readonly open: string;
  readonly proposals: readonly OpenProposal[];
}

export const proposalsShown = 1000;

/** @throws Failure, exit code 2, if it is not migrated, or what was known then cannot be told. */
export async function readReview(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  flags: KnownAtFlags = {},
): Promise<Review> {
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    const rollup = await publishedRollup(transaction, settings, chosen);
    const known = await statesKnownAt(transaction, rollup, flags);
    const bindings = known ? await layOutThen(transaction, rollup, known.at) : bindingsOf(rollup);
    const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
    const { rows } = await execute<OpenProposal>(transaction, prepare('report/review.sql', bindings), {
      rollup_id: rollup.id,
      at: known?.at ?? (clock?.now as string),
      at_most: proposalsShown,
      known_at: known?.at ?? null,
    });
    const [count] = await query<{ open: string }>(
      transaction,
      `select count(*)::text as open from ${bindings.proposal} as o where o.rollup_id = $1 and o.state = 'open'`,
      [rollup.id],
    );
    return { rollup: chosen.name, known_at: known, open: count?.open as string, proposals: rows };
  });
}

/** Those of each run under its number; of now, with the command that decides them. */
export function reviewText(review: Review, { key, measures }: RollupSettings): string {
  const { rollup, known_at: known, open, proposals } = review;
  const when = known ? ` as known at ${knownAtText(known)}` : '';
  if (open === '0') return `${rollup}${when}: nothing ${known ? 'was' : 'is'} proposed`;
  const order = { keys: key, measures: measures.map(({ name }) => name) };
  const runs = new Map<string, OpenProposal[]>();
  for (const proposal of proposals)
    runs.set(proposal.run_id, [...(runs.get(proposal.run_id) ?? []), proposal]);
  const rest = BigInt(open) - BigInt(proposals.length);
  return [
    `${rollup}${when}: ${counted(open, 'proposal')} ${known ? 'awaited' : open === '1' ? 'awaits' : 'await'} a person`,
    ...[...runs].flatMap(([run, made]) => [
      `  run ${run}, ${shortInstant(made[0]?.proposed_at)}, ${spanText(made[0]?.age_seconds ?? '0')} ${known ? 'before' : 'ago'}:`,
      ...changeLines({ changes: made }, order).map((line) => `    ${line}`),
    ]),
    ...(rest > 0n
      ? [`  and ${rest} more${known ? '' : `; each run's are decided together with --run`}`]
      : []),
    // what was open then may be decided by now
    ...(known ? [] : decisionLines(rollup, proposals[0]?.run_id)),
  ].join('\n');
}

const decisionLines = (rollup: string, run: string | undefined) =>
  ['approve', 'reject'].map(
    (verb) => `      errata ${verb} ${rollup} --run ${run} --actor NAME --reason TEXT`,
  );
