import type { z } from 'zod';
import type { Faults } from '../faults.ts';
import { choice, column, columns, expression, flag, instant, section, table, timeZone } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { BronzeSettings } from '../settings.ts';

export const bronzeShape = section(
  {
    table: table.describe('The table or view of raw events, as schema.table.'),
    event_id: columns.optional().describe('The column, or columns, with the id of an event.'),
    identified_by: columns
      .optional()
      .describe('The columns that tell one event from another, where there is no id.'),
    unique_rows: flag.optional().describe('true: every row is an event of its own; no row is ever a copy.'),
    event_time: column.describe('The column that says when it happened.'),
    ingested_at: column.describe('The column that says when the row landed in bronze.'),
    arrived_at: column
      .optional()
      .describe('The column that says when the broker took it; left out: ingested_at.'),
    source_partition: column
      .optional()
      .describe('The column of the source partition, each with its own watermark.'),
    heartbeat: expression
      .optional()
      .describe('An SQL predicate: such rows move the watermark and count nowhere.'),
    time_zone: timeZone.optional().describe('The zone of time columns of type timestamp without time zone.'),
    complete_from: instant.optional().describe('The date or instant from which bronze holds every event.'),
    track_changes: flag
      .optional()
      .describe(
        'true: `errata migrate` puts a trigger on the table that notes deleted and changed rows; left out: it takes it away.',
      ),
    deletes: choice(['corrective', 'retention'])
      .optional()
      .describe(
        'What deletes rows of the table: corrective, the windows follow; retention, they are never recomputed without them. Left out: corrective.',
      ),
  },
  'write a mapping with table, event_id, event_time and ingested_at',
).meta({ oneOf: ['event_id', 'identified_by', 'unique_rows'].map((way) => ({ required: [way] })) });

const ways = ['event_id', 'identified_by', 'unique_rows'] as const;
const remedy = 'write event_id: COLUMN, identified_by: [COLUMNS] or unique_rows: true';

/** R5: exactly one way to tell a copy. */
export function bronzeFaults(raw: Readonly<Record<string, unknown>>, path: Path, faults: Faults): void {
  const chosen = ways.filter((way) => raw[way] !== undefined);
  const [first, second] = chosen;
  if (first === undefined) {
    faults.about(path, `does not say what makes a row a copy of another; ${remedy}`);
    return;
  }
  if (second !== undefined) {
    faults.aboutKey([...path, second], `is a second way to tell copies beside ${first}; keep one of them`);
    return;
  }
  const value = raw[first];
  if (value === false) faults.about([...path, first], `is false, and nothing else tells copies; ${remedy}`);
  if (!Array.isArray(value)) return;
  if (value.length === 0) faults.about([...path, first], `names no column; ${remedy}`);
  value.forEach((name, at) => {
    if (typeof name !== 'string' || value.indexOf(name) === at) return;
    faults.aboutText([...path, first, at], name, 'stands twice in the list; write it once');
  });
}

export function bronzeSettings(bronze: z.output<typeof bronzeShape>): BronzeSettings {
  return {
    table: bronze.table,
    eventId: bronze.event_id ?? bronze.identified_by ?? [],
    identity: bronze.event_id ? 'event_id' : bronze.identified_by ? 'columns' : 'unique_rows',
    eventTime: bronze.event_time,
    ingestedAt: bronze.ingested_at,
    arrivedAt: bronze.arrived_at,
    sourcePartition: bronze.source_partition,
    heartbeat: bronze.heartbeat,
    timeZone: bronze.time_zone,
    completeFrom: bronze.complete_from,
    trackChanges: bronze.track_changes,
    deletes: bronze.deletes,
  };
}
