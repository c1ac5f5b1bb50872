import { z } from 'zod';
import type { Faults } from '../faults.ts';
import { column, section, table, timeZone } from '../leaf.ts';
import type { PeriodSettings } from '../settings.ts';
import { mappingAt } from './rollup.ts';

const remedy =
  'write { calendar: month, time_zone: Europe/Berlin } or { table: finance.periods, period: name, start: starts_at, end: ends_at }';

export const periodsShape = z.union(
  [
    section(
      {
        calendar: z
          .literal('month', { error: 'write month' })
          .optional()
          .describe('Periods are calendar months.'),
        time_zone: timeZone.describe('Whose months they are.'),
      },
      remedy,
    ),
    section(
      {
        table: table.describe('Your own calendar, one row a period; spans must not overlap.'),
        period: column.optional().describe('Its column with the name of the period; left out: period.'),
        start: column
          .optional()
          .describe('Its column of type timestamptz where it starts; left out: starts_at.'),
        end: column.optional().describe('And where it ends, itself not in it; left out: ends_at.'),
      },
      remedy,
    ),
  ],
  { error: remedy },
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
  if (periods && 'table' in periods)
    return {
      calendar: 'table',
      timeZone: zone,
      table: periods.table,
      period: periods.period ?? 'period',
      start: periods.start ?? 'starts_at',
      end: periods.end ?? 'ends_at',
    };
  return { calendar: 'month', timeZone: periods?.time_zone ?? zone };
}

function calendarZones(rollups: Rollups): Set<string> {
  const zones = Object.keys(rollups).map((name) => {
    const rollup = mappingAt(rollups, name);
    return rollup && mappingAt(rollup, 'window')?.time_zone;
  });
  return new Set(zones.filter((zone) => typeof zone === 'string'));
}
