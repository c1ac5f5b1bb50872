import pg from 'pg';
import { controlOf } from '../../src/db/control.ts';
import { migrateControlTables } from '../../src/db/migrator.ts';
import { createPool } from '../../src/db/pool.ts';

/** The template in which the control tables are made already, in the schema `errata`: most tests begin there. */
export function migratedTemplate(name: string): string {
  return `${name}_migrated`;
}

/**
 * Creates the databases that every test database is copied from: an empty one, and one with the control tables. Both are
 * closed to connections: a database that is in use cannot be copied.
 */
export async function createTemplates(url: string, name: string): Promise<void> {
  await createDatabase(url, name, 'template0');
  await createDatabase(url, migratedTemplate(name), name);
  const pool = createPool(databaseUrl(url, migratedTemplate(name)), { max: 1 });
  await migrateControlTables(controlOf(pool, 'errata'), 'errata');
  await pool.end();
  for (const database of [name, migratedTemplate(name)])
    await execute(url, `alter database ${pg.escapeIdentifier(database)} allow_connections false`);
}

async function createDatabase(url: string, name: string, from: string): Promise<void> {
  await execute(
    url,
    `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(from)} encoding 'UTF8'`,
  );
}

export async function dropTemplates(url: string, name: string): Promise<void> {
  for (const database of [migratedTemplate(name), name])
    await execute(url, `drop database if exists ${pg.escapeIdentifier(database)} with (force)`);
}

/** The databases that failed tests of this run have left, by name. Copies are named after their template. */
export async function keptDatabases(url: string, template: string): Promise<string[]> {
  const rows = await execute(
    url,
    `select datname from pg_catalog.pg_database where pg_catalog.starts_with(datname::text, ${pg.escapeLiteral(`${template}_`)})`,
  );
  return rows.map((row) => String(row.datname));
}

/** The same server and role, another database. */
export function databaseUrl(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(database)}`;
  return other.href;
}

/** Runs one statement on a connection of its own, outside a transaction. */
export async function execute(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
