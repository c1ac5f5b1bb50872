import type { z } from 'zod';
import type { Faults } from '../faults.ts';
import { count, duration, percentage, section } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { AlertName, AlertSettings, Duration, Level, Levels } from '../settings.ts';

const durations = section(
  {
    warn: duration.optional().describe('Longer than this: exit code 3 of `errata status --fail-on`.'),
    error: duration.optional().describe('Longer than this: exit code 1.'),
  },
  'write { warn: 1 hour, error: 6 hours }',
);

export const alertsShape = section(
  {
    stale: durations.optional().describe('How long ago the last run succeeded.'),
    backlog: durations.optional().describe('How long the oldest keyed window has waited for a run.'),
    unexplained: section(
      {
        warn: count.optional().describe('More than so many: exit code 3 of `errata status --fail-on`.'),
        error: count.optional().describe('More than so many: exit code 1.'),
      },
      'write { warn: 0, error: 100 }',
    )
      .optional()
      .describe('Keyed windows that the last sweep of `errata reconcile` could not explain.'),
    lateness: section(
      {
        warn: percentage.optional().describe('More than this: exit code 3 of `errata status --fail-on`.'),
        error: percentage.optional().describe('More than this: exit code 1.'),
      },
      'write { warn: 0.1%, error: 1% }',
    )
      .optional()
      .describe('The part of the rows examined in the last day that was refused.'),
  },
  'write { stale: { warn: 1 hour, error: 6 hours }, backlog: { warn: 1 hour, error: 6 hours } }',
);

type Alerts = z.output<typeof alertsShape>;

export const alertNames = ['stale', 'backlog', 'unexplained', 'lateness'] as const satisfies AlertName[];

/** What the members of one alert cannot say one by one. */
export function alertFaults(raw: Readonly<Record<string, unknown>>, path: Path, faults: Faults): void {
  for (const name of alertNames) {
    const written = raw[name];
    if (typeof written !== 'object' || written === null || Array.isArray(written)) continue;
    const parsed = alertsShape.safeParse({ [name]: written });
    if (Object.keys(written).length === 0)
      faults.about([...path, name], 'says nothing; write warn, error or both');
    const { warn, error } = (parsed.success ? levelsOf(name, parsed.data) : undefined) ?? {};
    if (warn && error && error.value < warn.value)
      faults.about([...path, name, 'error'], `is smaller than warn, ${warn.text}; write a greater one`);
  }
}

/** @param own of the rollup: each that it names stands for that of the file. */
export function alertSettings(file: Alerts | undefined, own: Alerts | undefined): AlertSettings | undefined {
  const found = alertNames.flatMap((name): [AlertName, Levels][] => {
    const levels = (own && levelsOf(name, own)) ?? (file && levelsOf(name, file));
    return levels ? [[name, levels]] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function levelsOf(name: AlertName, alerts: Alerts): Levels | undefined {
  const levels = alerts[name];
  return levels && { warn: levelOf(levels.warn), error: levelOf(levels.error) };
}

/** A duration in seconds, a percentage as a part of one, a count as it is. */
function levelOf(written: Duration | string | number | undefined): Level | undefined {
  if (written === undefined) return undefined;
  if (typeof written === 'number') return { value: written, text: String(written) };
  if (typeof written === 'string') return { value: Number(written) / 100, text: `${written}%` };
  return { value: Number(written.microseconds) / 1e6, text: written.text };
}
