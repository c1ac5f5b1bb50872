/** `errata plan`: the run, rolled back before it publishes. It takes the same way, so it cannot lie. */

import { exitCodeHelp } from '../cli/exit-code.ts';
import { exitCodeOf, overRollups } from '../cli/over-rollups.ts';
import type { Verb } from '../cli/verb.ts';
import type { Settings } from '../config/settings.ts';
import { amount, counted } from '../output/amount.ts';
import { changeLines, type Order } from '../output/changes-text.ts';
import { type RollupResult, resultData } from '../output/rollup-result.ts';
import { countsText, totals } from '../output/summary.ts';
import { changesShown } from '../pipeline/report.ts';
import { planRollup } from '../pipeline/run.ts';
import { type RunFlags, runOptions } from './run.ts';

export const plan: Verb<RunFlags> = {
  name: 'plan',
  summary: 'show what a run would seal, correct, propose or leave blocked; nothing is written',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [
    {
      flags: '--bound <INSTANT>',
      description: 'examine rows ingested up to here; default: the database clock',
    },
    { flags: '--max-windows <N>', description: 'recompute at most so many windows' },
    { flags: '--baseline', description: 'plan a baseline (needs --actor, --reason)' },
    { flags: '--actor <NAME>', description: 'who asks for the baseline' },
    { flags: '--reason <TEXT>', description: 'why' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'planned, whether or not anything would change',
    3: 'planned; something would need a person',
    4: 'nothing planned: another run holds the rollup',
  })}

Example:
  errata plan daily_orders --json | jq '.rollups[].changes[] | select(.verdict == "change")'`,

  async execute(context, names, flags) {
    const options = runOptions(flags);
    const settings = context.settings();
    const results = await overRollups(context, names, ({ control }, rollup, onStage) =>
      planRollup(control, rollup, { ...options, onStage }),
    );
    const exitCode = exitCodeOf(results);
    return {
      exitCode,
      text: results.map((result) => planText(result, orderOf(settings, result.rollup))).join('\n\n'),
      data: {
        exitCode,
        totals: totals(results),
        rollups: results.map((result) => resultData(result, context.environment, { changes: true })),
      },
    };
  },
};

const would = { sealed: 'would seal', corrected: 'correct', proposed: 'propose' };

function orderOf(settings: Settings, name: string): Order {
  const rollup = settings.rollups.find((one) => one.name === name);
  return { keys: rollup?.key ?? [], measures: rollup?.measures.map((measure) => measure.name) ?? [] };
}

function planText(result: RollupResult, order: Order): string {
  if (result.failure) return `${result.rollup}: not planned: ${result.failure.message}`;
  const { report } = result;
  const lines = changeLines(report, order);
  return [
    `${report.rollup}: ${countsText(totals([result]), would)}`,
    `  bound ${report.bound}, watermark ${report.watermark ?? 'none yet'}, ${counted(report.counts.rows_examined ?? 0, 'new row')} of bronze`,
    ...report.contradictions.map(({ text }) => `  ${text}`),
    ...lines.map((line) => `  ${line}`),
    ...(report.changes.length >= changesShown
      ? [`  the latest ${amount(String(changesShown))} windows are shown`]
      : []),
    ...report.gone.map(
      (relation) =>
        `  the ingestion partition ${relation} is gone: windows with rows in it are neither sealed nor corrected until it is back, or bronze.complete_from is later`,
    ),
  ].join('\n');
}
