import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { connectHint, type EmbeddedServer, startEmbedded, stopEmbedded } from '../../src/embedded/server.ts';
import { execute } from '../support/template.ts';

// A state directory of the test's own, with a space and a quote in its name: what a home directory may hold.
const state = mkdtempSync(join(tmpdir(), "errata state's "));
const name = 'embedded-test';
const running: EmbeddedServer[] = [];

// Where root runs the tests, the server's account has to get through.
chmodSync(state, 0o755);

beforeAll(() => vi.stubEnv('ERRATA_STATE_DIR', state));
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
afterAll(async () => {
  await stopEmbedded(name, { remove: true });
  rmSync(state, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

async function start(options: Partial<Parameters<typeof startEmbedded>[0]>): Promise<EmbeddedServer> {
  const server = await startEmbedded({ name, keep: false, ...options });
  running.push(server);
  return server;
}

const ask = async (url: string, statement: string) => (await execute(url, statement))[0];

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  await vi.waitUntil(condition, { timeout: 20_000, interval: 50 });
}

const answers = (url: string) =>
  ask(url, 'select 1').then(
    () => true,
    () => false,
  );

test('a temporary server starts, answers with its settings, and leaves nothing behind', async () => {
  const server = await start({ settings: { max_prepared_transactions: '7' } });
  expect(server.version).toMatch(/^18\.\d+$/);
  const row = await ask(
    server.url,
    `
    select current_setting('max_prepared_transactions') as prepared, current_setting('timezone') as zone,
      current_setting('listen_addresses') as addresses, current_setting('data_directory') as directory,
      datlocale as locale, datlocprovider as provider, pg_encoding_to_char(encoding) as encoding
    from pg_database where datname = 'template0'`,
  );
  expect(row).toEqual({
    prepared: '7',
    zone: 'UTC',
    addresses: '127.0.0.1',
    directory: server.dataDirectory,
    locale: 'C.UTF-8',
    provider: 'b',
    encoding: 'UTF8',
  });
  expect(server.dataDirectory.startsWith(state)).toBe(true);
  await server.stop();
  await server.stop();
  expect(await answers(server.url)).toBe(false);
  expect(existsSync(dirname(server.dataDirectory))).toBe(false);
});

test('it wants its password, and a wrong setting is reported with the server’s own words', async () => {
  const server = await start({});
  const url = new URL(server.url);
  url.password = 'wrong';
  await expect(ask(url.href, 'select 1')).rejects.toThrow('password authentication failed');
  await expect(
    startEmbedded({ name, keep: false, settings: { no_such_setting: '1' } }),
  ).rejects.toMatchObject({
    message: 'the embedded PostgreSQL did not start',
    detail: expect.stringContaining('no_such_setting'),
  });
});

test('a kept server keeps its data and its port, and a second start finds it running', async () => {
  const first = await start({ keep: true, settings: { max_prepared_transactions: '3' } });
  await ask(first.url, 'create table kept as select 42 as answer');
  const second = await start({ keep: true, settings: { max_prepared_transactions: '3' } });
  expect(second).toMatchObject({ url: first.url, found: true });
  await second.stop();
  expect(await answers(first.url)).toBe(true);
  await expect(
    startEmbedded({ name, keep: true, settings: { max_prepared_transactions: '4' } }),
  ).rejects.toMatchObject({
    message: 'the embedded PostgreSQL "embedded-test" is running with other settings',
    detail: 'max_prepared_transactions is 3, wanted 4',
  });
  expect(connectHint(first)).toContain(`psql '${first.url}'`);
  await first.stop();
  const again = await start({ keep: true });
  expect(again).toMatchObject({ url: first.url, found: false });
  expect(await ask(again.url, 'select answer from kept')).toEqual({ answer: 42 });
});

/** Starts a server from a Node of its own, which then waits; resolves with the server's URL and directory. */
async function startElsewhere(
  options: string,
): Promise<{ child: ChildProcess; url: string; dataDirectory: string }> {
  const module = new URL('../../src/embedded/server.ts', import.meta.url).href;
  const program = `
    import { startEmbedded } from ${JSON.stringify(module)};
    const { url, dataDirectory } = await startEmbedded(${options});
    console.log(JSON.stringify({ url, dataDirectory }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (text) => resolve(String(text)));
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
  });
  return { child, ...JSON.parse(line) };
}

test.for(['SIGKILL', 'SIGTERM'] as const)(
  '%s to Node: the guard stops the server and removes its data',
  async (signal) => {
    const { child, url, dataDirectory } = await startElsewhere(`{ name: '${name}', keep: false }`);
    expect(await answers(url)).toBe(true);
    child.kill(signal);
    await until(() => !existsSync(dirname(dataDirectory)));
    expect(await answers(url)).toBe(false);
  },
);

test('SIGKILL to Node: a kept server is stopped, its data stay; a detached one runs on until it is stopped', async () => {
  const kept = await startElsewhere(`{ name: '${name}', keep: true }`);
  kept.child.kill('SIGKILL');
  await until(async () => !(await answers(kept.url)));
  await until(() => !existsSync(join(kept.dataDirectory, 'postmaster.pid')));

  const detached = await startElsewhere(`{ name: '${name}', keep: true, detach: true }`);
  expect(detached.dataDirectory).toBe(kept.dataDirectory);
  const ended = once(detached.child, 'exit');
  detached.child.kill('SIGKILL');
  await ended;
  expect(await answers(detached.url)).toBe(true);
  expect(await stopEmbedded(name)).toBe(true);
  expect(await stopEmbedded(name)).toBe(false);
  expect(await answers(detached.url)).toBe(false);
});
