/** `errata digest`: the head of each rollup's chain, to be kept where nobody who writes to the database can reach it. */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { inTransaction } from '../db/transaction.ts';
import { type DigestEntry, digestText } from '../report/evidence/digest.ts';
import { countWaiting, evidenceRollup, readLink } from '../report/evidence/evidence.ts';

export const digest: Verb = {
  name: 'digest',
  summary: 'print the hash that stands for everything published so far, to be kept elsewhere',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [],
  help: `${exitCodeHelp([0, 1, 2])}

VERSIONS is how many versions the hash covers; WAITING how many the next run is to cover: those that a stream has inserted
since the last run, or all before the first. Keep the output where nobody who may write to the database can change it:
\`errata verify --digest FILE\` reads it back.

Example:
  errata digest > "digest-$(date +%F).txt"`,

  async execute(context, names) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const { control } = await context.open();
    const entries: DigestEntry[] = [];
    for (const one of chosen) {
      entries.push(
        await inTransaction(control, 'repeatable read', async (transaction) => {
          const rollup = await evidenceRollup(transaction, settings, one);
          const link = await readLink(transaction, rollup);
          return {
            rollup: one.name,
            head: link?.head ?? null,
            run_id: link?.run_id ?? null,
            stamp: link?.stamp ?? null,
            versions: link?.versions ?? '0',
            waiting: await countWaiting(transaction, rollup, link),
          };
        }),
      );
    }
    return { exitCode: 0, text: digestText(entries), data: { rollups: entries } };
  },
};
