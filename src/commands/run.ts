/** `errata run`: what cron calls. JSON lines on stderr, one summary line on stdout. */

import type { Context } from '../cli/context.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import { exitCodeOf, overRollups } from '../cli/over-rollups.ts';
import type { Verb } from '../cli/verb.ts';
import { readDuration } from '../config/duration.ts';
import { readInstant } from '../config/instant.ts';
import { Failure } from '../failure.ts';
import { deliverNotices } from '../notices/deliver.ts';
import { resultData } from '../output/rollup-result.ts';
import { summaryLine, totals } from '../output/summary.ts';
import type { SpineOptions } from '../pipeline/run.ts';
import { type PartsOptions, runInParts } from '../pipeline/runs.ts';

export interface RunFlags {
  readonly bound?: string;
  readonly baseline?: boolean;
  readonly actor?: string;
  readonly reason?: string;
  readonly maxWindows?: string;
  readonly untilDone?: boolean;
  readonly step?: string;
}

export const run: Verb<RunFlags> = {
  name: 'run',
  summary: 'examine what is new in bronze, seal, and publish corrections',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [
    {
      flags: '--bound <INSTANT>',
      description: 'examine rows ingested up to here; default: the database clock',
    },
    { flags: '--max-windows <N>', description: 'recompute at most so many windows; the rest stays queued' },
    {
      flags: '--until-done',
      description: 'with --max-windows: in further runs, until nothing is left for one',
    },
    {
      flags: '--step <DURATION>',
      description: 'cut a long history into runs of so much ingestion time, each committed',
    },
    {
      flags: '--baseline',
      description: 'seal an existing history as it is known now (needs --actor, --reason)',
    },
    { flags: '--actor <NAME>', description: 'who asks for the baseline' },
    { flags: '--reason <TEXT>', description: 'why' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4])}

A rollup that fails does not stop the others; a paused one is passed over. A keyed window of which a measure cannot be
computed is set aside, and each run tries it again. --step and --until-done make several runs, each with its own commit
and a line of progress on stderr; ended in between, the next invocation goes on. SIGINT and SIGTERM cancel the statement under way; the run is
rolled back as a whole, and the exit code is 130 or 143.

Examples:
  */15 * * * *  errata run --config /etc/errata/errata.yaml
  errata run daily_orders --bound 2026-11-02T00:00:00Z
  errata run daily_orders --step '1 day' --max-windows 10000 --until-done
  errata run daily_orders --baseline --actor anna --reason 'history before Errata'`,
  logs: true,

  async execute(context, names, flags) {
    const options = { ...runOptions(flags), ...partsOf(flags) };
    const results = await overRollups(context, names, ({ control }, rollup, onStage) =>
      runInParts(control, rollup, {
        ...options,
        onStage,
        signal: context.signal,
        onRun: ({ runId, bound, counts }, { runs, target, left }) => {
          onStage(
            `run ${runs} is committed`,
            `up to ${bound}${target === null ? '' : ` of ${target}`}, ${left} left`,
          );
          if (flags.step !== undefined || flags.untilDone)
            context.logger.info(
              { rollup: rollup.settings.name, run_id: runId, bound, target, counts, left },
              'run done',
            );
        },
      }),
    );
    await tellOthers(context);
    const exitCode = exitCodeOf(results);
    return {
      exitCode,
      text: summaryLine(results),
      data: {
        exitCode,
        totals: totals(results),
        rollups: results.map((result) => resultData(result, context.environment, { changes: false })),
      },
    };
  },
};

/** A notice that does not arrive waits in the outbox; the run has done its work. */
async function tellOthers(context: Context): Promise<void> {
  const settings = context.settings();
  if (settings.notices === undefined || context.signal.aborted) return;
  const { control } = await context.open();
  const { failure, left } = await deliverNotices(control, settings, context.signal);
  if (failure !== null) context.logger.warn({ failure, left }, 'a notice did not arrive; it is tried again');
}

/** What `run` and `plan` share. @throws Failure, exit code 2, for a value that cannot be meant. */
export function runOptions(flags: RunFlags): SpineOptions {
  const { bound, baseline, actor, reason, maxWindows } = flags;
  if (bound !== undefined) {
    const reading = readInstant(bound);
    if ('wrong' in reading) throw wrong('--bound', bound, reading.wrong);
  }
  if (maxWindows !== undefined && !/^[1-9]\d{0,8}$/.test(maxWindows))
    throw wrong('--max-windows', maxWindows, 'is no number of windows; write a whole number above 0');
  if (baseline && (!actor || !reason)) {
    throw new Failure('a baseline needs a person and a reason', {
      detail: 'it publishes version 1 of the whole history as it is known now',
      hint: 'add --actor NAME and --reason TEXT',
      exitCode: 2,
    });
  }
  return {
    verb: baseline ? 'baseline' : 'run',
    bound,
    actor,
    reason,
    maxWindows: maxWindows === undefined ? undefined : Number(maxWindows),
  };
}

/** @throws Failure, exit code 2, for a value that cannot be meant. */
function partsOf({
  step,
  untilDone,
  maxWindows,
  baseline,
}: RunFlags): Pick<PartsOptions, 'step' | 'untilDone'> {
  if (untilDone && maxWindows === undefined)
    throw new Failure('--until-done needs --max-windows', {
      hint: 'without a limit one run takes all that is queued',
      exitCode: 2,
    });
  if (step === undefined) return { untilDone };
  if (baseline)
    throw new Failure('--step and --baseline contradict each other', {
      detail: 'a baseline seals the whole history in one run',
      hint: 'leave one of them out',
      exitCode: 2,
    });
  const reading = readDuration(step);
  if ('wrong' in reading) throw wrong('--step', step, reading.wrong);
  if (reading.value.microseconds === 0n) throw wrong('--step', step, 'has no length; write one above 0');
  return { step: reading.value, untilDone };
}

function wrong(option: string, value: string, what: string): Failure {
  return new Failure(`${option} ${JSON.stringify(value)} ${what}`, { exitCode: 2 });
}
