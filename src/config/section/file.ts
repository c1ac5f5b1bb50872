import { z } from 'zod';
import { leaf, section } from '../leaf.ts';
import { nameBytes, plainName, readName } from '../name.ts';
import type { Reading } from '../reading.ts';
import { alertsShape } from './alerts.ts';
import { limitsShape } from './limits.ts';
import { noticesShape } from './notices.ts';
import { periodsShape } from './periods.ts';
import { rolesShape } from './roles.ts';
import { rollupShape } from './rollup.ts';

/** The whole file. */
export const fileShape = section(
  {
    database: leaf(readUrl, `write a URL, or \${DATABASE_URL}`)
      .optional()
      .describe(
        'Where bronze and gold live. Left out: DATABASE_URL, the PG* variables, or an embedded PostgreSQL.',
      ),
    schema: leaf(readSchema, 'write the name of a schema, such as errata')
      .optional()
      .describe('The schema of the control tables; left out: errata.'),
    rollups: z
      .record(z.string(), rollupShape, { error: 'write a mapping of rollups by name' })
      .meta({ propertyNames: { pattern: plainName.source, maxLength: nameBytes } })
      .describe('The rollups by name.'),
    roles: rolesShape.optional().describe('Database roles, and what `migrate` grants them.'),
    run: limitsShape
      .optional()
      .describe('How long a run and `migrate` may wait and work, and how long runs stay on record.'),
    notices: noticesShape.optional().describe('Who is told when a published number changed.'),
    alerts: alertsShape
      .optional()
      .describe(
        'Thresholds for `errata status --fail-on` and metrics, of each rollup that has none of its own.',
      ),
    periods: periodsShape.optional().describe('What finance closes.'),
  },
  'write a mapping with rollups',
);

/** Never shown in a fault, since it may hold a password. */
export function readUrl(text: string): Reading<string> {
  const wrong = `is not a database URL; write postgres://user:password@host:5432/database, best as \${DATABASE_URL}`;
  return /^postgres(ql)?:\/\/./.test(text) ? { value: text } : { wrong };
}

function readSchema(text: string): Reading<string> {
  if (/^pg_/.test(text) || text === 'information_schema') {
    return { wrong: 'belongs to PostgreSQL; write another name, such as errata' };
  }
  // Two released migrations build a statement with it, in a text and as a format.
  if (/['%]/.test(text)) return { wrong: "has ' or % in it; write a name without them, such as errata" };
  return readName(text);
}
