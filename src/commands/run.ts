/** `errata run`: what cron calls. JSON lines on stderr, one summary line on stdout. */

import { exitCodeHelp } from '../cli/exit-code.ts';
import { exitCodeOf, overRollups } from '../cli/over-rollups.ts';
import type { Verb } from '../cli/verb.ts';
import { readInstant } from '../config/instant.ts';
import { Failure } from '../failure.ts';
import { resultData } from '../output/rollup-result.ts';
import { summaryLine, totals } from '../output/summary.ts';
import type { SpineOptions } from '../pipeline/run.ts';
import { runRollup } from '../pipeline/run.ts';

export interface RunFlags {
  readonly bound?: string;
  readonly baseline?: boolean;
  readonly actor?: string;
  readonly reason?: string;
  readonly maxWindows?: string;
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
      flags: '--baseline',
      description: 'seal an existing history as it is known now (needs --actor, --reason)',
    },
    { flags: '--actor <NAME>', description: 'who asks for the baseline' },
    { flags: '--reason <TEXT>', description: 'why' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4])}

A rollup that fails does not stop the others. SIGINT and SIGTERM cancel the statement under way; the run is
rolled back as a whole, and the exit code is 130 or 143.

Examples:
  */15 * * * *  errata run --config /etc/errata/errata.yaml
  errata run daily_orders --bound 2026-11-02T00:00:00Z
  errata run daily_orders --baseline --actor anna --reason 'history before Errata'`,
  logs: true,

  async execute(context, names, flags) {
    const options = runOptions(flags);
    const results = await overRollups(context, names, ({ control }, rollup, onStage) =>
      runRollup(control, rollup, { ...options, onStage }),
    );
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

function wrong(option: string, value: string, what: string): Failure {
  return new Failure(`${option} ${JSON.stringify(value)} ${what}`, { exitCode: 2 });
}
