import { z } from 'zod';
import { durationOf } from '../duration.ts';
import type { Faults } from '../faults.ts';
import {
  choice,
  column,
  columns,
  duration,
  durationOrColumn,
  instant,
  leaf,
  section,
  skew,
  span,
  table,
} from '../leaf.ts';
import type { Path } from '../place.ts';
import type {
  BronzeSettings,
  RefusedSettings,
  SourcePartitionSettings,
  WatermarkLogSettings,
  WatermarkSettings,
} from '../settings.ts';
import { noDelay, overridesShape } from './overrides.ts';

const logRemedy = 'write schema.table or { table, at, source_partition, watermark, idle }';

const logShape = z
  .union(
    [
      table,
      section(
        {
          table: table.describe('The log, one row a source partition and entry.'),
          at: column.optional().describe('Its column with the time of the entry; left out: at.'),
          source_partition: column.optional().describe('Left out: source_partition.'),
          watermark: column.optional().describe('Left out: watermark.'),
          idle: column
            .optional()
            .describe('Its boolean column that marks the source partition idle; left out: idle.'),
          dropped: column
            .optional()
            .describe('Its column with how many rows the stream has dropped so far, a counter.'),
        },
        logRemedy,
      ),
    ],
    { error: logRemedy },
  )
  .transform((log): WatermarkLogSettings => {
    const names = 'name' in log ? { table: log, dropped: undefined } : log;
    return {
      table: names.table,
      at: names.at ?? 'at',
      sourcePartition: names.source_partition ?? 'source_partition',
      watermark: names.watermark ?? 'watermark',
      idle: names.idle ?? 'idle',
      dropped: names.dropped,
    };
  });

const refusedRemedy = 'write schema.table or { table, event_id, window_start, window_end, watermark }';

const refusedShape = z.union(
  [
    table,
    section(
      {
        table: table.describe("The stream's own table of refused rows, one row a refusal."),
        event_id: columns
          .optional()
          .describe('Its column, or columns, with the id; left out: named as in bronze.'),
        event_time: column
          .optional()
          .describe('Its column with the event time, where the id alone does not find the row.'),
        window_start: column
          .optional()
          .describe(
            'Its column with the start of the window that refused the row; left out: all its windows.',
          ),
        window_end: column.optional().describe('Its column with the end of that window.'),
        watermark: column.optional().describe('Its column with the watermark that refused the row.'),
        refused_at: column
          .optional()
          .describe('Its column with the time of the refusal, on the clock of ingested_at.'),
      },
      refusedRemedy,
    ),
  ],
  { error: refusedRemedy },
);

const sourcePartitionsRemedy = 'write [a, b] or { a: 2026-01-01, b: 2026-02-01 }';
const sourcePartitionName = leaf((value) => ({ value }), 'write the name of a source partition', true);

const sourcePartitionsShape = z
  .union([z.array(sourcePartitionName), z.record(z.string(), instant)], { error: sourcePartitionsRemedy })
  .transform((declared): SourcePartitionSettings[] =>
    Array.isArray(declared)
      ? declared.map((name) => ({ name }))
      : Object.entries(declared).map(([name, since]) => ({ name, since })),
  );

export const watermarkShape = section(
  {
    strategy: choice(['bounded', 'fixed_delay', 'recorded', 'external']).describe(
      'bounded: the greatest event time less a delay; fixed_delay: each arrival less a delay; recorded: the log of the stream; external: the refused rows of the stream.',
    ),
    delay: durationOrColumn
      .optional()
      .describe('How far the watermark stays behind; the same as in the stream.'),
    idle_after: span.optional().describe('A source partition silent for as long as this holds nothing back.'),
    max_future_skew: skew
      .optional()
      .describe('How far in its own future a row may lie; none: no limit; left out: 1 hour.'),
    combine: choice(['min', 'max', 'own'])
      .optional()
      .describe('How source partitions combine; left out: min.'),
    source_partitions: sourcePartitionsShape
      .optional()
      .describe(
        'The source partitions that hold the minimum back until they report or are idle: a list of names, or a mapping from each to the instant from which on it is there; left out: they are found as they appear.',
      ),
    log: logShape
      .optional()
      .describe("The stream's log of watermarks; left out: the table that Errata makes."),
    hold: duration.optional().describe('How long a run waits for the log; left out: 0.'),
    refused: refusedShape
      .optional()
      .describe(
        "The stream's own table of refused rows; under external they are the side output, under recorded they are compared with it.",
      ),
    overrides: overridesShape
      .optional()
      .describe('A table of delays and latenesses by key or source partition that differ from these.'),
  },
  'write { strategy: bounded, delay: 10 minutes }',
);

const delayOf = { bounded: 'the greatest event time', fixed_delay: 'each arrival' } as const;

/** R2: which member goes with which strategy. */
export function watermarkFaults(raw: Readonly<Record<string, unknown>>, path: Path, faults: Faults): void {
  const { strategy } = raw;
  if ((strategy === 'bounded' || strategy === 'fixed_delay') && raw.delay === undefined) {
    faults.about(
      [...path, 'delay'],
      `is missing; write how far the watermark stays behind ${delayOf[strategy]}, such as 10 minutes`,
    );
  }
  if (strategy === 'external' && raw.refused === undefined) {
    faults.about(
      [...path, 'refused'],
      "is missing; write the stream's table of refused rows as schema.table",
    );
  }
  if (raw.source_partitions !== undefined && (strategy === 'fixed_delay' || strategy === 'external')) {
    faults.aboutKey(
      [...path, 'source_partitions'],
      'goes with strategy: bounded or recorded only; leave it out',
    );
  }
  if (
    (strategy === 'recorded' || strategy === 'external') &&
    typeof raw.delay === 'object' &&
    raw.delay !== null
  ) {
    faults.about([...path, 'delay'], noDelay(strategy));
  }
  const owners = { log: ['recorded'], hold: ['recorded'], refused: ['external', 'recorded'] };
  if (typeof strategy !== 'string' || !watermarkShape.shape.strategy.safeParse(strategy).success) return;
  for (const [member, strategies] of Object.entries(owners)) {
    if (raw[member] === undefined || strategies.includes(strategy)) continue;
    faults.aboutKey([...path, member], `goes with strategy: ${strategies.join(' or ')} only; leave it out`);
  }
  if (strategy !== 'external') return;
  for (const member of ['delay', 'idle_after', 'combine']) {
    if (raw[member] === undefined) continue;
    faults.aboutKey(
      [...path, member],
      'does not go with strategy: external, under which the stream alone knows its watermark; leave it out',
    );
  }
}

/** R2: an entry of the stream finds its row by the id that bronze has. */
export function refusedFaults(
  raw: Readonly<Record<string, unknown>>,
  bronze: Readonly<Record<string, unknown>> | undefined,
  path: Path,
  faults: Faults,
): void {
  if (raw.refused === undefined || bronze === undefined) return;
  const id = bronze.event_id ?? bronze.identified_by;
  if (id === undefined) {
    if (bronze.unique_rows === undefined) return;
    faults.about(
      [...path, 'refused'],
      'finds its rows by their id, and bronze.unique_rows says that they have none; write bronze.event_id or bronze.identified_by',
    );
    return;
  }
  const named = (raw.refused as { event_id?: unknown } | null)?.event_id;
  if (named === undefined || named === null) return;
  const [wanted, given] = [id, named].map((value) => (Array.isArray(value) ? value.length : 1));
  if (wanted === given) return;
  faults.about(
    [...path, 'refused', 'event_id'],
    `names ${given} of the ${wanted} columns that identify a row of bronze; write one for each, in the same order`,
  );
}

/** R2: rows of several source partitions can only be told apart by a column. */
export function sourcePartitionFaults(
  raw: Readonly<Record<string, unknown>>,
  bronze: Readonly<Record<string, unknown>> | undefined,
  path: Path,
  faults: Faults,
): void {
  if (bronze === undefined || bronze.source_partition !== undefined) return;
  const needs = 'needs the column that says where a row came from; write source_partition under bronze';
  if (raw.combine === 'own' && (raw.strategy === 'bounded' || raw.strategy === 'recorded'))
    faults.about([...path, 'combine'], needs);
  if (raw.source_partitions !== undefined && raw.strategy === 'bounded')
    faults.about([...path, 'source_partitions'], needs);
}

export function watermarkSettings(
  watermark: z.output<typeof watermarkShape>,
  bronze: BronzeSettings,
): WatermarkSettings {
  const limit = watermark.max_future_skew;
  return {
    strategy: watermark.strategy,
    delay: watermark.delay?.duration,
    delayColumn: watermark.delay?.column,
    overrides: watermark.overrides,
    idleAfter: watermark.idle_after,
    maxFutureSkew: limit === 'none' ? undefined : (limit ?? durationOf(3_600_000_000n)),
    combine: watermark.combine ?? 'min',
    sourcePartitions: watermark.source_partitions,
    log: watermark.log,
    hold: watermark.hold ?? durationOf(0n),
    refused: watermark.refused && refusedSettings(watermark.refused, bronze),
  };
}

function refusedSettings(
  refused: z.output<typeof refusedShape>,
  { eventId }: BronzeSettings,
): RefusedSettings {
  if ('name' in refused) return { table: refused, eventId };
  return {
    table: refused.table,
    eventId: refused.event_id ?? eventId,
    eventTime: refused.event_time,
    windowStart: refused.window_start,
    windowEnd: refused.window_end,
    watermark: refused.watermark,
    refusedAt: refused.refused_at,
  };
}
