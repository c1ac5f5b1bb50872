/** `errata status`: where each rollup stands, and what needs a person. */
import { selectRollups } from '../catalog/open.ts';
import type { Context } from '../cli/context.ts';
import { type ExitCode, exitCodeHelp, smallestTrue } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { alertNames } from '../config/section/alerts.ts';
import type { AlertName, RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { refusePending } from '../db/migrator.ts';
import { Failure } from '../failure.ts';
import { type FailureData, failureData } from '../output/failure-text.ts';
import { readFigures } from '../report/metrics/figures.ts';
import { type Alert, alertsOf, alertText } from '../report/metrics/levels.ts';
import { concernsOf } from '../report/status/concerns.ts';
import { type RollupStatus, readStatus } from '../report/status/status.ts';
import { statusText } from '../report/status/text.ts';

export interface StatusFlags {
  readonly failOn?: string;
}

export const status: Verb<StatusFlags> = {
  name: 'status',
  summary: 'show where each rollup stands: last run, lag, queue, and what needs a person',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [
    {
      flags: '--fail-on <ALERTS>',
      description: `end by thresholds alone: a list of ${alertNames.join(', ')}`,
    },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3], {
    0: 'nothing needs a person',
    1: 'the last run of a rollup failed',
    3: 'something needs a person: blocked windows, pending events, open proposals, late seals, a notice that could not be delivered for a day',
  })}

With --fail-on the exit code tells nothing else: 1 where a figure is beyond its threshold \`error\`, 3 where beyond \`warn\`,
0 within. The thresholds are settings: alerts: { stale: { warn: 1 hour, error: 6 hours } }.

It reads the control tables, and works when bronze is gone. The frontier is how far bronze has been examined, the
watermark how far windows are sealed.

Examples:
  errata status --fail-on stale,backlog || echo 'look at errata'
  errata status daily_orders --json | jq '.rollups[0].last_success.finished_at'`,

  async execute(context, names, { failOn }) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const asked = failOn === undefined ? undefined : askedAlerts(failOn, chosen, settings.file);
    const { control } = await context.open();
    await refusePending(control, settings.schema);
    const found: Found[] = [];
    for (const rollup of chosen) found.push(await statusOf(context, control, settings, rollup));
    const judged = asked ? await judge(control, settings, chosen, found, asked) : found;
    return {
      exitCode: smallestTrue(judged.map(({ exitCode }) => exitCode)),
      text: judged.map(({ text }) => text).join('\n\n'),
      data: { rollups: judged.map(({ data }) => data) },
    };
  },
};

/** @throws Failure, exit code 2, for what is no alert, or has no threshold. */
function askedAlerts(text: string, chosen: readonly RollupSettings[], file: string): AlertName[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !alertNames.some((known) => known === name));
  if (unknown.length > 0)
    throw new Failure(`--fail-on knows no "${unknown.join('", "')}"`, {
      hint: `write a list of ${alertNames.join(', ')}`,
      exitCode: 2,
    });
  const asked = names as AlertName[];
  const without = chosen.flatMap(({ name, alerts }) =>
    asked.filter((alert) => alerts?.[alert] === undefined).map((alert) => `${alert} of ${name}`),
  );
  if (without.length > 0)
    throw new Failure('an alert that is asked for has no threshold', {
      detail: without.join(', '),
      hint: `add it to ${file}, as in alerts: { stale: { warn: 1 hour, error: 6 hours } }`,
      exitCode: 2,
    });
  return asked;
}

/** The thresholds alone decide the exit code; a rollup whose status cannot be read keeps its own. */
async function judge(
  control: Control,
  settings: Settings,
  chosen: readonly RollupSettings[],
  found: readonly Found[],
  asked: readonly AlertName[],
): Promise<Found[]> {
  const { rollups } = await readFigures(control, settings, chosen, { withoutLateness: true });
  return found.map((one) => {
    const figures = rollups.find(({ rollup }) => rollup.name === one.data.rollup);
    if (figures === undefined || 'error' in one.data) return one;
    const alerts = alertsOf(figures).filter(({ alert }) => asked.includes(alert));
    const codes = alerts.map(({ level }): ExitCode => ({ ok: 0, warn: 3, error: 1 })[level] as ExitCode);
    return {
      exitCode: smallestTrue(codes),
      text: [one.text, ...alerts.map((alert) => `  ${'alert'.padEnd(12)}${alertText(alert)}`)].join('\n'),
      data: { ...one.data, alerts },
    };
  });
}

interface Found {
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly data:
    | (RollupStatus & { needs: readonly string[]; alerts?: readonly Alert[] })
    | { rollup: string; error: FailureData };
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
