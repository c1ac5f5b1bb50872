/** `errata verify`: whether every published version is still what was published. */
import { resolve } from 'node:path';
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';
import { readDigest } from '../report/evidence/digest.ts';
import { evidenceRollup } from '../report/evidence/evidence.ts';
import { verificationText } from '../report/evidence/text.ts';
import { type Verification, verify as verifyRollup } from '../report/evidence/verify.ts';

interface Flags {
  readonly digest?: string;
}

export const verify: Verb<Flags> = {
  name: 'verify',
  summary: 'recompute every hash and name the first altered, missing or added version',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [
    { flags: '--digest <FILE>', description: 'what `errata digest` printed earlier, kept elsewhere' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3], {
    0: 'every version is as it was published',
    3: 'a version was altered, removed or added, the digest does not fit, or the guard is not in force',
  })}

It reads the ledger and the hashes in the database. Who may change both can make them fit: only a digest that was kept
elsewhere shows that. docs/evidence.md has the same in plain SQL.

Example:
  errata verify daily_orders --digest digest-2026-10-31.txt`,

  async execute(context, names, flags) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const entries =
      flags.digest === undefined
        ? undefined
        : readDigest(resolve(context.directory, flags.digest), flags.digest);
    if (entries && !chosen.some(({ name }) => entries.some(({ rollup }) => rollup === name)))
      throw new Failure(`the digest ${flags.digest} says nothing of these rollups`, {
        detail: `it holds ${entries.map(({ rollup }) => rollup).join(', ')}`,
        hint: 'name the digest of this database, or one of its rollups',
        exitCode: 2,
      });
    const { control } = await context.open();
    const found: Verification[] = [];
    for (const one of chosen) {
      context.signal.throwIfAborted();
      found.push(
        await inTransaction(control, 'repeatable read', async (transaction) =>
          verifyRollup(
            transaction,
            await evidenceRollup(transaction, settings, one),
            entries?.find(({ rollup }) => rollup === one.name),
            (step, link) =>
              context.say(
                `${one.name}: ${step === 'versions' ? `comparing ${counted(link?.versions ?? '0', 'version')} with their hashes` : `following ${counted(link?.links ?? '0', 'link')}`}`,
              ),
          ),
        ),
      );
    }
    return {
      exitCode: found.every(({ holds }) => holds) ? 0 : 3,
      text: found
        .map((one, place) => verificationText(one, chosen[place]?.key ?? [], entries !== undefined))
        .join('\n'),
      data: { rollups: found },
    };
  },
};
