/** The open proposals of a rollup: what each would make of its keyed window (R10). Amounts and instants are text. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { execute, prepare, query } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { counted } from '../output/amount.ts';
import { changeLines } from '../output/changes-text.ts';
import type { Change } from '../pipeline/report.ts';
import { shortInstant, spanText } from './instant-text.ts';
import { publishedRollup } from './published-rollup.ts';

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
  /** How many there are; `proposals` holds the first of them. */
  readonly open: string;
  readonly proposals: readonly OpenProposal[];
}

export const proposalsShown = 1000;

/** @throws Failure, exit code 2, if it is not migrated. */
export async function readReview(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
): Promise<Review> {
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    const rollup = await publishedRollup(transaction, settings, chosen);
    const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
    const { rows } = await execute<OpenProposal>(
      transaction,
      prepare('report/review.sql', bindingsOf(rollup)),
      { rollup_id: rollup.id, at: clock?.now as string, at_most: proposalsShown },
    );
    const open = await transaction
      .selectFrom('proposal')
      .select(({ fn }) => fn.countAll<string>().as('open'))
      .where('rollup_id', '=', rollup.id)
      .where('state', '=', 'open')
      .executeTakeFirstOrThrow();
    return { rollup: chosen.name, open: open.open, proposals: rows };
  });
}

/** Those of each run under its number, with the command that decides them. */
export function reviewText({ rollup, open, proposals }: Review, { key, measures }: RollupSettings): string {
  if (open === '0') return `${rollup}: nothing is proposed`;
  const order = { keys: key, measures: measures.map(({ name }) => name) };
  const runs = new Map<string, OpenProposal[]>();
  for (const proposal of proposals)
    runs.set(proposal.run_id, [...(runs.get(proposal.run_id) ?? []), proposal]);
  const rest = BigInt(open) - BigInt(proposals.length);
  return [
    `${rollup}: ${counted(open, 'proposal')} ${open === '1' ? 'awaits' : 'await'} a person`,
    ...[...runs].flatMap(([run, made]) => [
      `  run ${run}, ${shortInstant(made[0]?.proposed_at)}, ${spanText(made[0]?.age_seconds ?? '0')} ago:`,
      ...changeLines({ changes: made }, order).map((line) => `    ${line}`),
    ]),
    ...(rest > 0n ? [`  and ${rest} more; each run's are decided together with --run`] : []),
    `      errata approve ${rollup} --run ${proposals[0]?.run_id} --actor NAME --reason TEXT`,
    `      errata reject ${rollup} --run ${proposals[0]?.run_id} --actor NAME --reason TEXT`,
  ].join('\n');
}
