import { z } from 'zod';
import type { Faults } from '../faults.ts';
import { section, timeZone } from '../leaf.ts';
import type { PeriodSettings } from '../settings.ts';
import { mappingAt } from './rollup.ts';

export const periodsShape = section(
  {
    calendar: z
      .literal('month', { error: 'write month' })
      .optional()
      .describe('Periods are calendar months.'),
    time_zone: timeZone.describe('Whose months they are.'),
  },
  'write { calendar: month, time_zone: Europe/Berlin }',
);

type Rollups = Readonly<Record<string, unknown>>;

/**
 * R12: a window belongs to the period that holds its start. Where periods are left out they follow the zone of the
 * calendar windows: by UTC months, the Berlin day of the 1st would belong to the month before.
 */
export function periodFaults(raw: unknown, rollups: Rollups, faults: Faults): void {
  if (raw !== undefined || calendarZones(rollups).size <= 1) return;
  faults.about(
    ['periods'],
    'is missing, and the calendar windows follow several time zones; write { calendar: month, time_zone: Europe/Berlin }',
  );
}

export function periodSettings(
  periods: z.output<typeof periodsShape> | undefined,
  rollups: Rollups,
): PeriodSettings {
  const [zone = 'UTC'] = calendarZones(rollups);
  return { calendar: 'month', timeZone: periods?.time_zone ?? zone };
}

function calendarZones(rollups: Rollups): Set<string> {
  const zones = Object.keys(rollups).map((name) => {
    const rollup = mappingAt(rollups, name);
    return rollup && mappingAt(rollup, 'window')?.time_zone;
  });
  return new Set(zones.filter((zone) => typeof zone === 'string'));
}
