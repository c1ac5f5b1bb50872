/** `errata metrics`: the figures of `/metrics` without a server, for cron and the textfile collector. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { Failure } from '../failure.ts';
import { readFigures, type ServerFigures } from '../report/metrics/figures.ts';
import { alertsOf } from '../report/metrics/levels.ts';

export interface MetricsFlags {
  readonly textfile?: string;
}

export const metrics: Verb<MetricsFlags> = {
  name: 'metrics',
  summary: 'print the metrics of /metrics, or write them for the textfile collector of Prometheus',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [
    {
      flags: '--textfile <PATH>',
      description: 'write them to this file, whole or not at all; it ends in .prom',
    },
  ],
  help: `${exitCodeHelp([0, 1, 2])}

A rollup that is not in the database is left out. What each metric means stands in the lines that begin with # HELP.

Example, for cron:
  errata run; errata metrics --textfile /var/lib/prometheus/node-exporter/errata.prom`,

  async execute(context, names, flags) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const path = flags.textfile === undefined ? undefined : textfile(context.directory, flags.textfile);
    const { control } = await context.open();
    const figures = await readFigures(control, settings, chosen);
    const { metricsText } = await import('../report/metrics/text.ts');
    const text = await metricsText(figures);
    if (path !== undefined) await replace(path, text);
    return { exitCode: 0, text: path === undefined ? text.trimEnd() : '', data: dataOf(figures) };
  },
};

/** The settings of a rollup are not the metrics' to print. */
function dataOf({ rollups, ...server }: ServerFigures): object {
  return {
    ...server,
    rollups: rollups.map((figures) => {
      const { rollup, ...rest } = figures;
      return { rollup: rollup.name, ...rest, alerts: alertsOf(figures) };
    }),
  };
}

function textfile(directory: string, path: string): string {
  if (path.endsWith('.prom')) return resolve(directory, path);
  throw new Failure(`--textfile ${JSON.stringify(path)} does not end in .prom`, {
    detail: 'the textfile collector reads no other file',
    hint: 'write a path such as /var/lib/prometheus/node-exporter/errata.prom',
    exitCode: 2,
  });
}

/** Whoever reads it sees the old file or the new one. It is beside it, since a rename is atomic within one file system only. */
async function replace(path: string, text: string): Promise<void> {
  const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(beside, 'wx', 0o644);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw new Failure(`the metrics cannot be written to ${path}`, {
      detail: (error as Error).message,
      hint: 'name a file in a directory that this account may write to',
      exitCode: 1,
    });
  }
}
