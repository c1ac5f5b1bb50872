import type { z } from 'zod';
import { durationOf } from '../duration.ts';
import type { Faults } from '../faults.ts';
import { columns, cron, durationOrColumn, flag, goldName, section, timeZone } from '../leaf.ts';
import { nameBytes, plainName } from '../name.ts';
import type { Path, Places } from '../place.ts';
import type { RollupSettings } from '../settings.ts';
import { alertFaults, alertSettings, alertsShape } from './alerts.ts';
import { bronzeFaults, bronzeSettings, bronzeShape } from './bronze.ts';
import { keyFaults, measureFaults, measureSettings, measuresShape } from './measures.ts';
import { overrideFaults } from './overrides.ts';
import { publishFaults, publishSettings, publishShape } from './publish.ts';
import { sealFaults, sealSettings, sealShape } from './seal.ts';
import {
  refusedFaults,
  sourcePartitionFaults,
  watermarkFaults,
  watermarkSettings,
  watermarkShape,
} from './watermark.ts';
import { windowFaults, windowSettings, windowShape } from './window.ts';

const scheduleShape = section(
  {
    cron: cron.describe('Minute, hour, day of month, month, day of week.'),
    time_zone: timeZone.optional().describe('Whose clock the schedule follows; left out: UTC.'),
  },
  'write { cron: "*/15 * * * *", time_zone: UTC }',
);

export const rollupShape = section(
  {
    gold: goldName.describe('The ledger, as schema.table; its views are named after it.'),
    bronze: bronzeShape.describe('The raw events, which Errata only reads.'),
    window: windowShape.describe('How event time is cut into windows.'),
    key: columns.optional().describe('The columns to group by; left out: one total a window.'),
    measures: measuresShape.describe('Names and the SQL aggregates they stand for.'),
    watermark: watermarkShape.describe('How far the stream had declared its input complete.'),
    allowed_lateness: durationOrColumn
      .optional()
      .describe('How long past its end a window is still updated; left out: 0.'),
    seal: sealShape.describe('Who writes version 1, the number that ships.'),
    publish: publishShape.describe('Who publishes corrections.'),
    partials: flag
      .optional()
      .describe(
        'true: keep the measures of each ingestion partition that is closed, so that a long window is not read whole again. Left out: false.',
      ),
    schedule: scheduleShape.optional().describe('When `errata serve` runs the rollup.'),
    alerts: alertsShape.optional().describe('Thresholds of its own; what is left out is as the file says.'),
  },
  'write a mapping with gold, bronze, window, measures, watermark, seal and publish',
);

type Raw = Readonly<Record<string, unknown>>;

/** What the members of one rollup cannot say one by one. Looks at whatever is there, so that no fault hides another. */
export function rollupFaults(name: string, raw: Raw, path: Path, faults: Faults): void {
  if (!plainName.test(name) || name === '__proto__') {
    faults.aboutKey(
      path,
      'is not a name for a rollup; write lower-case letters, digits and _, such as daily_orders',
    );
  } else if (name.length > nameBytes) {
    faults.aboutKey(path, `is longer than ${nameBytes} bytes; write a shorter name`);
  }
  const measures = mappingAt(raw, 'measures');
  const names = Object.keys(measures ?? {});
  if (measures) measureFaults(names, [...path, 'measures'], faults);
  keyFaults(raw.key, names, [...path, 'key'], faults);
  const bronze = mappingAt(raw, 'bronze');
  if (bronze) bronzeFaults(bronze, [...path, 'bronze'], faults);
  const window = mappingAt(raw, 'window');
  if (window) windowFaults(window, [...path, 'window'], faults);
  const watermark = mappingAt(raw, 'watermark');
  if (watermark) {
    watermarkFaults(watermark, [...path, 'watermark'], faults);
    sourcePartitionFaults(watermark, bronze, [...path, 'watermark'], faults);
    const overrides = mappingAt(watermark, 'overrides');
    if (overrides) overrideFaults(overrides, raw, [...path, 'watermark', 'overrides'], faults);
    refusedFaults(watermark, bronze, [...path, 'watermark'], faults);
  }
  const seal = mappingAt(raw, 'seal');
  if (seal) sealFaults(seal, [...path, 'seal'], watermark?.strategy, faults);
  const publish = mappingAt(raw, 'publish');
  if (publish) publishFaults(publish, [...path, 'publish'], names, faults);
  const alerts = mappingAt(raw, 'alerts');
  if (alerts) alertFaults(alerts, [...path, 'alerts'], faults);
}

export function mappingAt(raw: Raw, member: string): Raw | undefined {
  const value = raw[member];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : undefined;
}

export function rollupSettings(
  name: string,
  rollup: z.output<typeof rollupShape>,
  path: Path,
  places: Places,
  {
    alerts,
    ...shared
  }: Pick<RollupSettings, 'limits' | 'notices' | 'periods'> & {
    readonly alerts: z.output<typeof alertsShape> | undefined;
  },
): RollupSettings {
  const bronze = bronzeSettings(rollup.bronze);
  return {
    name,
    gold: rollup.gold,
    bronze,
    window: windowSettings(rollup.window),
    key: rollup.key ?? [],
    measures: measureSettings(rollup.measures, [...path, 'measures'], places),
    watermark: watermarkSettings(rollup.watermark, bronze),
    allowedLateness: rollup.allowed_lateness?.duration ?? durationOf(0n),
    allowedLatenessColumn: rollup.allowed_lateness?.column,
    seal: sealSettings(rollup.seal),
    publish: publishSettings(rollup.publish),
    partials: rollup.partials ?? false,
    schedule: rollup.schedule && { cron: rollup.schedule.cron, timeZone: rollup.schedule.time_zone ?? 'UTC' },
    alerts: alertSettings(alerts, rollup.alerts),
    ...shared,
    position: { line: places.key(path).line },
  };
}
