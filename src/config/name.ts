import type { Reading } from './reading.ts';
import type { TableName } from './settings.ts';

/** PostgreSQL cuts a longer name in silence, so that two names could become one. */
export const nameBytes = 63;
/** `_reconciliation`, the longest ending that a relation of a rollup gets, has 15 bytes. */
export const goldNameBytes = 48;
/** Views put up to 23 bytes before a measure's name, such as `pending_`. */
export const measureNameBytes = 40;

/** Names that appear in commands, relations and columns without quotes. */
export const plainName = /^[a-z_][a-z0-9_]*$/;

/** A column or schema as the catalog holds it: taken literally, dots and quotes included. */
export function readName(text: string): Reading<string> {
  const wrong = wrongPart(text);
  return wrong === undefined ? { value: text } : { wrong };
}

/**
 * Reads `schema.table`. Each part is literal and case-sensitive; a part with a dot or a double quote in it is written
 * as in SQL: `"odd.schema"."say ""table"""`.
 */
export function readTableName(text: string): Reading<TableName> {
  const parts = splitAtDots(text);
  if (parts === undefined) {
    return {
      wrong: 'has a double quote out of place; write a part with a dot or quote in it as "in ""SQL"""',
    };
  }
  const [schema, name, ...more] = parts;
  if (schema === undefined || name === undefined) return { wrong: 'lacks the schema; write schema.table' };
  if (more.length > 0) {
    return { wrong: 'has more than two parts; write schema.table, a part with a dot in it in double quotes' };
  }
  const wrong = wrongPart(schema) ?? wrongPart(name);
  return wrong === undefined ? { value: { schema, name } } : { wrong };
}

/** As `readTableName`, for a gold table, whose name gets endings. */
export function readGoldName(text: string): Reading<TableName> {
  const reading = readTableName(text);
  if ('wrong' in reading || Buffer.byteLength(reading.value.name) <= goldNameBytes) return reading;
  return {
    wrong: `is longer than ${goldNameBytes} bytes, and _reconciliation and the like are added to it while PostgreSQL cuts names at ${nameBytes}; write a shorter name`,
  };
}

/** The text that `readTableName` reads back as the same name. */
export function formatTableName(table: TableName): string {
  return `${formatPart(table.schema)}.${formatPart(table.name)}`;
}

function formatPart(part: string): string {
  return /[."]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part;
}

/** Undefined where a double quote neither opens nor closes a part. */
function splitAtDots(text: string): string[] | undefined {
  const parts: string[] = [];
  const part = /(?:"((?:[^"]|"")*)"|([^."]*))(\.|$)/y;
  for (;;) {
    const match = part.exec(text);
    if (match === null) return undefined;
    parts.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '') return parts;
  }
}

function wrongPart(part: string): string | undefined {
  if (part === '') return 'has an empty name in it; write the name';
  if (part.includes('\0') || !part.isWellFormed()) {
    return 'has a character in it that PostgreSQL cannot store; write the name without it';
  }
  if (Buffer.byteLength(part) > nameBytes) {
    return `is longer than ${nameBytes} bytes, where PostgreSQL cuts names; write a shorter name`;
  }
  return undefined;
}
