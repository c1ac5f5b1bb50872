/**
 * The PostgreSQL that the tests run on, chosen once for a run (vitest's global setup): TEST_DATABASE_URL, else the
 * programs in ERRATA_TEST_POSTGRES_BIN, else a container where a container runtime answers, else the embedded server.
 * There is no way to run without one: what cannot be had is an error, never a skipped test.
 */
import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { type EmbeddedServer, startEmbedded } from '../../src/embedded/server.ts';
import { findContainerRuntime, startContainer } from './container.ts';
import { createTemplates, dropTemplates, execute, keptDatabases } from './template.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of a database on the test server, as a role that may create databases. */
    testServerUrl: string;
    /** The database that every test database is a copy of. */
    testTemplate: string;
    /** How long the database of a failed test can be looked at. */
    testKeptUntil: string;
  }
}

/** A server for one run. `keep` is called instead of `stop` where failed tests have left databases behind. */
export interface TestServer {
  readonly name: string;
  readonly url: string;
  readonly keptUntil: string;
  stop(): Promise<void>;
  keep(): Promise<void>;
}

/** Settings that tests rely on; a server of the user's own needs them too. */
export const testSettings = { max_prepared_transactions: '20', max_connections: '200' };

const lingerMinutes = 15;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await chooseServer();
  process.stdout.write(`${await describe(server)}\n`);
  const template = `errata_test_${randomBytes(4).toString('hex')}`;
  await createTemplates(server.url, template);
  project.provide('testServerUrl', server.url);
  project.provide('testTemplate', template);
  project.provide('testKeptUntil', server.keptUntil);
  return async () => {
    await dropTemplates(server.url, template);
    const kept = await keptDatabases(server.url, template);
    await (kept.length > 0 ? server.keep() : server.stop());
  };
}

async function chooseServer(): Promise<TestServer> {
  const { TEST_DATABASE_URL: url, ERRATA_TEST_POSTGRES_BIN: directory } = process.env;
  if (url) return foreignServer(url);
  if (directory)
    return embedded(
      await startEmbedded({ ...throwaway, binDirectory: directory }),
      `programs in ${directory}`,
    );
  const absent = await findContainerRuntime();
  if (absent === undefined) return startContainer(testSettings);
  return embedded(await startEmbedded(throwaway), `embedded; ${absent}`);
}

const throwaway = { name: 'test', keep: false, settings: testSettings };

function foreignServer(url: string): TestServer {
  const leave = async () => {};
  return { name: 'TEST_DATABASE_URL', url, keptUntil: 'until you drop it', stop: leave, keep: leave };
}

function embedded(server: EmbeddedServer, name: string): TestServer {
  // On a build machine nobody comes to look, and a process left behind may keep the job from ending.
  const lingers = !process.env.CI;
  return {
    name,
    url: server.url,
    keptUntil: lingers
      ? `for ${lingerMinutes} minutes after this run`
      : 'until this run ends, since CI is set',
    stop: () => server.stop(),
    keep: async () => (lingers ? server.linger(lingerMinutes * 60) : server.stop()),
  };
}

/** One line: which server, which version, where; and what it lacks, as far as tests need it. */
async function describe(server: TestServer): Promise<string> {
  const [row] = await execute(
    server.url,
    `select pg_catalog.current_setting('server_version') as version,
      pg_catalog.current_setting('max_prepared_transactions')::int as prepared`,
  );
  const lack =
    Number(row?.prepared) > 0
      ? ''
      : '; max_prepared_transactions is 0, so tests with prepared transactions fail';
  return `Tests run on PostgreSQL ${row?.version} at ${new URL(server.url).host} (${server.name})${lack}`;
}
