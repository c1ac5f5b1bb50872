/** One-shot migrations: the numbered files of `migrations/`, each valid SQL, run once and never edited after release. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { Failure } from '../failure.ts';
import type { Control } from './control.ts';
import { quoteName, quoteTable, type Sql } from './identifiers.ts';
import { fill } from './sql.ts';
import { type Executor, query } from './statement.ts';

const directory = new URL('../../migrations/', import.meta.url);

/** Each pending migration's name and SQL, in order, without running any. */
export async function pendingMigrations(
  control: Control,
  schema: string,
): Promise<{ name: string; sql: Sql }[]> {
  await refuseUnknown(control, schema);
  const all = await migratorOf(control, schema).getMigrations();
  const pending = new Set(
    all.filter((migration) => !migration.executedAt).map((migration) => migration.name),
  );
  return migrationFiles(schema).filter(({ name }) => pending.has(name));
}

/** Brings the control tables up to date, within the installer's transaction. @returns the names of the migrations that ran. */
export async function migrateControlTables(control: Control, schema: string): Promise<string[]> {
  await refuseUnknown(control, schema);
  const { error, results } = await migratorOf(control, schema).migrateToLatest();
  // Kysely returns its error instead of throwing it.
  if (error) throw error;
  return (results ?? [])
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
}

/** @throws Failure, exit code 2, where the database has a migration that this version has not. */
async function refuseUnknown(control: Control, schema: string): Promise<void> {
  const table = quoteTable({ schema, name: 'kysely_migration' });
  const [found] = await query<{ is_there: boolean }>(
    control,
    'select to_regclass($1) is not null as is_there',
    [table],
  );
  if (!found?.is_there) return;
  const known = new Set(migrationNames());
  const rows = await query<{ name: string }>(control, `select m.name from ${table} as m order by m.name`);
  const unknown = rows.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new Failure('another version of Errata has migrated this database', {
    detail: `schema ${JSON.stringify(schema)} has ${unknown.join(', ')}, which this version does not know`,
    hint: 'use that version, or a later one; nothing was changed',
    exitCode: 2,
  });
}

/** Those that control tables of an earlier version lack; none where there are no control tables yet, or this role may not look. */
export async function missingMigrations(executor: Executor, schema: string): Promise<string[]> {
  const table = quoteTable({ schema, name: 'kysely_migration' });
  const [found] = await query<{ is_there: boolean }>(
    executor,
    `select coalesce(has_table_privilege(to_regclass($1), 'select'), false) as is_there`,
    [table],
  );
  if (!found?.is_there) return [];
  const rows = await query<{ name: string }>(executor, `select m.name from ${table} as m`);
  const ran = new Set(rows.map(({ name }) => name));
  return migrationNames().filter((name) => !ran.has(name));
}

/** @throws Failure, exit code 2, where the control tables are those of an earlier version. */
export async function refusePending(executor: Executor, schema: string): Promise<void> {
  const missing = await missingMigrations(executor, schema);
  if (missing.length === 0) return;
  throw new Failure('the control tables are of an earlier version of Errata', {
    detail: `schema ${JSON.stringify(schema)} lacks ${missing.join(', ')}`,
    hint: 'run `errata migrate`; nothing was done',
    exitCode: 2,
  });
}

function migratorOf(control: Control, schema: string): Migrator {
  const provider: MigrationProvider = {
    getMigrations: async () =>
      Object.fromEntries(migrationFiles(schema).map(({ name, sql }) => [name, migrationOf(sql)])),
  };
  // Some files grew beside each other: a database may have met a later number first. Each alters what an earlier number than
  // its own has made, so those that are missing may still come.
  return new Migrator({
    db: control,
    provider,
    migrationTableSchema: schema,
    allowUnorderedMigrations: true,
  });
}

/** The tables that the migrations make, by their files: the schema may hold tables of the user's too. */
export function controlTables(): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .flatMap((file) => [...readFileSync(new URL(file, directory), 'utf8').matchAll(tableMade)])
    .map(([, name]) => name as string);
}

const tableMade = /^create table (?:if not exists )?\/\*:schema\*\/errata\/\*\.\*\/\.([a-z_]+)/gm;

function migrationNames(): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
}

function migrationFiles(schema: string): { name: string; sql: Sql }[] {
  return migrationNames().map((name) => {
    const text = readFileSync(new URL(`${name}.sql`, directory), 'utf8');
    return { name, sql: fill(text, { schema: quoteName(schema) }, `migrations/${name}.sql`) };
  });
}

function migrationOf(sql: Sql): Migration {
  return {
    up: async (db) => {
      await query(db, sql);
    },
  };
}
