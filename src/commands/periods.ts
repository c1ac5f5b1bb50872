/** `errata periods`: what each closed period was closed with, and everything since (R12). */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { type KnownAtFlags, knownAtOptions } from '../report/known-at.ts';
import { periodsText, readPeriods } from '../report/periods.ts';

export const periods: Verb<KnownAtFlags> = {
  name: 'periods',
  summary: 'list the closed periods: what each was closed with, and what came after',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: knownAtOptions,
  help: `${exitCodeHelp([0, 1, 2])}

What a period was closed with never changes. Restated after close: what bronze gives now, less what it gave then, whether
posted by now or held. Adjustments, and what was posted while the period stood reopened, are listed with their events.

With --mark or --at: closes, versions and events as of then. What awaited someone then is told by \`errata events\` and
\`errata review\`.

Examples:
  errata periods daily_orders
  errata periods daily_orders --mark 'October, mailed'`,

  async execute(context, names, flags) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const { control } = await context.open();
    const found = [];
    for (const rollup of chosen) found.push(await readPeriods(control, settings, rollup, flags));
    return {
      exitCode: 0,
      text: found.map(periodsText).join('\n\n'),
      data: { rollups: found },
    };
  },
};
