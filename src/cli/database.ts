/** Opens the database that the settings mean: their URL, the PG* variables, else the embedded PostgreSQL. */
import pg from 'pg';
import type { Environment } from '../config/environment.ts';
import { type Control, controlOf } from '../db/control.ts';
import { createPool } from '../db/pool.ts';
import { connectHint, startEmbedded } from '../embedded/server.ts';
import { Failure } from '../failure.ts';
import { connectionFailure } from '../output/connection-failure.ts';
import { rememberPasswords } from '../output/secrets.ts';
import type { Context } from './context.ts';
import type { Interruption } from './interruption.ts';

/** The part of the settings that says where; `Settings` is one. */
export interface DatabaseChoice {
  /** A URL; undefined: the PG* variables if any is set, else the embedded PostgreSQL. */
  readonly database: string | undefined;
  /** The schema of the control tables. */
  readonly schema: string;
}

export interface OpenDatabase {
  readonly control: Control;
  readonly pool: pg.Pool;
  /** As in `180004`. */
  readonly serverVersion: number;
  /** True: the embedded PostgreSQL. */
  readonly isEmbedded: boolean;
  /** Safe to call twice; the frame calls it when the verb is over. */
  close(): Promise<void>;
}

const oldestMajor = 15;
const variables = ['PGHOST', 'PGPORT', 'PGDATABASE', 'PGUSER', 'PGPASSWORD'];

export async function openDatabase(
  choice: DatabaseChoice,
  context: Pick<Context, 'environment' | 'logger' | 'say'>,
  interruption: Interruption,
): Promise<OpenDatabase> {
  const isEmbedded = choice.database === undefined && !hasVariables(context.environment);
  const url = isEmbedded ? await embeddedUrl(context) : choice.database;
  rememberPasswords(url, context.environment);
  refuseUnreadable(url);
  const pool = createPool(url, {
    onIdleError: (error) => context.logger.warn({ err: error }, 'an idle connection was lost'),
  });
  interruption.watch(pool);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= pool.end();
    return closing;
  };
  try {
    const serverVersion = await readVersion(pool, url);
    refuseOldServer(serverVersion);
    return { control: controlOf(pool, choice.schema), pool, serverVersion, isEmbedded, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws Failure, exit code 2. @param version as `server_version_num` says it: 140011 for 14.11 */
export function refuseOldServer(version: number): void {
  const major = Math.floor(version / 10_000);
  if (major >= oldestMajor) return;
  throw new Failure(`PostgreSQL ${major} is too old`, {
    detail: `the server runs version ${major}.${version % 10_000}; Errata needs PostgreSQL ${oldestMajor} or newer`,
    hint: `upgrade the server, or name another one as \`database\` in the settings`,
    exitCode: 2,
  });
}

/** @throws Failure, exit code 2. The driver's own words are of no use here, and the URL may hold a password. */
function refuseUnreadable(url: string | undefined): void {
  try {
    serverText(url);
  } catch {
    throw new Failure('the URL of the database cannot be read', {
      detail: 'it is not shown, since it may hold a password',
      hint: 'write postgres://user:password@host:5432/database; in a name or password % is %25, @ is %40, : is %3A, / is %2F, ? is %3F and # is %23',
      exitCode: 2,
    });
  }
}

/** The server as messages name it, without its password: `127.0.0.1:5432, database orders, user etl`. */
export function serverText(url: string | undefined): string {
  const { host, port, database, user } = new pg.Client(url === undefined ? {} : { connectionString: url });
  return `${host}:${port}, database ${database ?? user}, user ${user}`;
}

async function readVersion(pool: pg.Pool, url: string | undefined): Promise<number> {
  try {
    const { rows } = await pool.query("select current_setting('server_version_num') as version");
    return Number(rows[0]?.version);
  } catch (error) {
    throw connectionFailure(error, serverText(url));
  }
}

function hasVariables(environment: Environment): boolean {
  return variables.some((name) => environment[name]);
}

async function embeddedUrl(context: Pick<Context, 'say'>): Promise<string> {
  const server = await startEmbedded({ name: 'errata', keep: true, detach: true });
  context.say(
    `No database is set, so the embedded PostgreSQL ${server.version} serves${server.found ? ' (it was running)' : ''}:\n${connectHint(server)}`,
  );
  return server.url;
}
