/** `errata status`: where each rollup stands, and what needs a person. */
import { selectRollups } from '../catalog/open.ts';
import type { Context } from '../cli/context.ts';
import { type ExitCode, exitCodeHelp, smallestTrue } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { Failure } from '../failure.ts';
import { type FailureData, failureData } from '../output/failure-text.ts';
import { concernsOf } from '../report/status/concerns.ts';
import { type RollupStatus, readStatus } from '../report/status/status.ts';
import { statusText } from '../report/status/text.ts';

export const status: Verb = {
  name: 'status',
  summary: 'show where each rollup stands: last run, lag, queue, and what needs a person',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [],
  help: `${exitCodeHelp([0, 1, 2, 3], {
    0: 'nothing needs a person',
    1: 'the last run of a rollup failed',
    3: 'something needs a person: blocked windows, pending events, open proposals, late seals, a notice that could not be delivered for a day',
  })}

It reads the control tables, and works when bronze is gone. The frontier is how far bronze has been examined, the
watermark how far windows are sealed.

Example:
  errata status daily_orders --json | jq '.rollups[0].last_success.finished_at'`,

  async execute(context, names) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const { control } = await context.open();
    const found: Found[] = [];
    for (const rollup of chosen) found.push(await statusOf(context, control, settings, rollup));
    return {
      exitCode: smallestTrue(found.map(({ exitCode }) => exitCode)),
      text: found.map(({ text }) => text).join('\n\n'),
      data: { rollups: found.map(({ data }) => data) },
    };
  },
};

interface Found {
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly data: (RollupStatus & { needs: readonly string[] }) | { rollup: string; error: FailureData };
}

/** A rollup that is not migrated yet does not hide the others. */
async function statusOf(
  { environment }: Context,
  control: Control,
  settings: Settings,
  rollup: RollupSettings,
): Promise<Found> {
  try {
    const found = await readStatus(control, settings, rollup);
    const concerns = concernsOf(found, rollup);
    return {
      exitCode: smallestTrue(concerns.map(({ exitCode }) => exitCode)),
      text: statusText(found, rollup),
      data: { ...found, needs: concerns.map(({ text }) => text) },
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return {
      exitCode: error.exitCode,
      text: `${rollup.name}: ${error.message}\n      ${error.hint ?? ''}`,
      data: { rollup: rollup.name, error: failureData(error, environment) },
    };
  }
}
