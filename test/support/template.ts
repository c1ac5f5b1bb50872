import pg from 'pg';

/**
 * Fills the database that every test database is copied from; called once for a run. Must close its connections: a
 * database that is in use cannot be copied.
 */
export async function prepareTemplate(_url: string): Promise<void> {}

/** Creates the database `name` on the server of `url`, fills it, and closes it to connections. */
export async function createTemplate(url: string, name: string): Promise<void> {
  await execute(url, `create database ${pg.escapeIdentifier(name)} template template0 encoding 'UTF8'`);
  await prepareTemplate(databaseUrl(url, name));
  await execute(url, `alter database ${pg.escapeIdentifier(name)} allow_connections false`);
}

export async function dropTemplate(url: string, name: string): Promise<void> {
  await execute(url, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
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
