/** One-shot migrations: the numbered files of `migrations/`, each valid SQL, run once and never edited after release. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import type { Control } from './control.ts';
import { quoteName, type Sql } from './identifiers.ts';
import { fill } from './sql.ts';
import { query } from './statement.ts';

const directory = new URL('../../migrations/', import.meta.url);

/** Each pending migration's name and SQL, in order, without running any. */
export async function pendingMigrations(
  control: Control,
  schema: string,
): Promise<{ name: string; sql: Sql }[]> {
  const all = await migratorOf(control, schema).getMigrations();
  const pending = new Set(
    all.filter((migration) => !migration.executedAt).map((migration) => migration.name),
  );
  return migrationFiles(schema).filter(({ name }) => pending.has(name));
}

/** Brings the control tables up to date, within the installer's transaction. @returns the names of the migrations that ran. */
export async function migrateControlTables(control: Control, schema: string): Promise<string[]> {
  const { error, results } = await migratorOf(control, schema).migrateToLatest();
  // Kysely returns its error instead of throwing it.
  if (error) throw error;
  return (results ?? [])
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
}

function migratorOf(control: Control, schema: string): Migrator {
  const provider: MigrationProvider = {
    getMigrations: async () =>
      Object.fromEntries(migrationFiles(schema).map(({ name, sql }) => [name, migrationOf(sql)])),
  };
  return new Migrator({ db: control, provider, migrationTableSchema: schema });
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

function migrationFiles(schema: string): { name: string; sql: Sql }[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, directory), 'utf8');
      return {
        name: file.replace(/\.sql$/, ''),
        sql: fill(text, { schema: quoteName(schema) }, `migrations/${file}`),
      };
    });
}

function migrationOf(sql: Sql): Migration {
  return {
    up: async (db) => {
      await query(db, sql);
    },
  };
}
