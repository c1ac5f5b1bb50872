import { type DescribedTable, type Guess, guess } from './guess.ts';
import { formatTableName } from './name.ts';
import { policyChoices } from './section/publish.ts';

export type { DescribedTable } from './guess.ts';

const example: DescribedTable = {
  schema: 'bronze',
  name: 'orders',
  columns: [
    { name: 'order_id', type: 'bigint' },
    { name: 'ordered_at', type: 'timestamp with time zone' },
    { name: 'ingested_at', type: 'timestamp with time zone' },
    { name: 'region', type: 'text' },
    { name: 'amount', type: 'numeric(12,2)' },
  ],
  primaryKey: ['order_id'],
  indexes: [],
  partitionKey: [],
};

/**
 * The commented `errata.yaml` that `errata init` writes. The publish policy is left open on purpose (R10): until it is
 * chosen, `readSettings` has exactly one fault.
 *
 * @param table fills the file from its columns; left out: an example to change.
 * @param schemaLocation what editors read, as a path from the file's directory or a URL.
 */
export function startingFile(
  table?: DescribedTable,
  schemaLocation = './node_modules/errata/schema/errata.schema.json',
): string {
  const described = table ?? example;
  const found = guess(described);
  const policies = Object.entries(policyChoices).map(
    ([name, meaning]) => `      #   ${name.padEnd(8)}${meaning}`,
  );
  const origin = table
    ? 'Columns and measures are guesses from the columns of the table. Read each line before the first run.'
    : 'The table and its columns are an example. Change them, or run `errata init --table SCHEMA.TABLE`.';
  return `# yaml-language-server: $schema=${schemaLocation}
#
# Settings of Errata. \`errata check\` says everything that does not fit.
# ${origin}

# Left out, or the variable not set: the PG* variables if any is set, else an embedded PostgreSQL.
database: \${DATABASE_URL}
# The schema of Errata's own tables.
schema: errata

rollups:
  ${found.rollup}:
    # The ledger that Errata makes. Its views are named after it: _latest, _sealed, _history, …
    gold: ${scalar(formatTableName({ schema: 'gold', name: found.rollup }))}

    # The raw events. Errata reads them and changes nothing.
    bronze:
      table: ${scalar(formatTableName(described))}
${identity(found)}
      # When it happened.
      event_time: ${column(found.eventTime, 'event_time')}
      # When the row landed in this table.
      ingested_at: ${column(found.ingestedAt, 'ingested_at')}
${zone(found)}      # One input of the stream (a Kafka partition, a device), each with its own watermark.
      # source_partition: ${scalar(found.sourcePartition ?? 'kafka_partition')}
      # From when bronze holds every event; windows that start earlier are never recomputed.
      # complete_from: 2026-01-01

    # The same windows as in the stream. Or { tumbling: 5 minutes }, { hopping: 1 hour, every: 5 minutes },
    # { session_gap: 30 minutes }.
    window: { calendar: 1 day, time_zone: UTC }

    # The columns to group by; []: one total a window.
    key: [${found.key.map((name) => scalar(name)).join(', ')}]

    # Any SQL aggregates over bronze. Sums of floats need a cast to numeric.
    measures:
${found.measures.map(({ name, expression }) => `      ${scalar(name)}: ${scalar(expression, true)}`).join('\n')}

    # When the stream took a window for complete; the same delay as in the stream. A row whose event time lies
    # further in its own future than max_future_skew is quarantined. Or { strategy: recorded }, from a log that the
    # stream writes, or { strategy: external, refused: stream.refused }, from the rows that it refused.
    watermark: { strategy: bounded, delay: 10 minutes, max_future_skew: 1 hour }
    # How long past its end a window is still updated by the stream; later rows are refused.
    allowed_lateness: 0

    # Who writes version 1, the number that ships. Or { by: stream, after: 15 minutes },
    # { from: analytics.daily_orders, after: 15 minutes }.
    seal: { by: errata }

    publish:
      # Who publishes what comes after version 1. There is no default; write one of
${policies.join('\n')}
      policy:

# The periods that finance closes.
periods: { calendar: month, time_zone: UTC }
`;
}

function identity(found: Guess): string {
  if (found.eventId.length === 0) {
    return `      # Nothing looks like an event id. With unique_rows a row that is loaded twice counts twice; if there is an id,
      # write event_id: COLUMN, or identified_by: [COLUMNS].
      unique_rows: true`;
  }
  const names = found.eventId.map((name) => scalar(name));
  return `      # A further row with the same id is a copy, and counts once. Without an id: identified_by: [COLUMNS],
      # or unique_rows: true.
      event_id: ${names.length === 1 ? names[0] : `[${names.join(', ')}]`}`;
}

function zone(found: Guess): string {
  if (!found.needsTimeZone) return '';
  return `      # The zone of time columns that are timestamp without time zone.
      time_zone: UTC
`;
}

function column(name: string | undefined, fallback: string): string {
  return name === undefined ? `${fallback} # no column looks like it: write its name` : scalar(name);
}

/** A text as YAML, in quotes where YAML or the expansion of variables would read something else into it. */
function scalar(text: string, sql = false): string {
  const plain = sql ? /^[a-z][\w(*):]*$/i : /^[a-z_][\w.]*$/i;
  if (plain.test(text) && !/^(true|false|null)$/i.test(text)) return text;
  // By a function, because `$$` in a replacement text is one `$`.
  return JSON.stringify(text).replaceAll('${', () => '$${');
}
