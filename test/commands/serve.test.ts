/** `errata serve` as a process: what it says, whom it answers, and how it stops. */
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { controlOf } from '../../src/db/control.ts';
import { migrateAll } from '../../src/install/install.ts';
import { openServers, orders, type Servers, scheduledYaml } from '../schedule/servers.ts';
import { openTestDatabase } from '../support/database.ts';
import { errata, type Started, start, startDirectly, startWith, workDirectory } from './command.ts';

const hourly = { cron: '0 * * * *', timeZone: 'UTC' };

/** It listens on a port that is free, and says on which. */
async function portOf(started: Started): Promise<string> {
  await started.said('serves ');
  return /at http:\/\/127\.0\.0\.1:(\d+)/.exec(started.stderr())?.[1] as string;
}

/** So many hours are due by the database's own clock. */
async function dueSince(servers: Servers, hours: number): Promise<void> {
  await servers.start().tick();
  await servers.database.pool.query('update errata.schedule set since = since - make_interval(hours => $1)', [
    hours,
  ]);
}

/** A run stands before the lock that the test holds on its ledger. */
async function untilItWaits(servers: Servers): Promise<void> {
  const waiting = async () => {
    const { rows } = await servers.database.pool.query(
      "select count(*) from pg_locks where not granted and relation = 'gold.one'::regclass",
    );
    return rows[0].count;
  };
  await expect.poll(waiting, { timeout: 20_000 }).toBe('1');
}

describe('as a process', () => {
  test('what is due runs at once; SIGTERM waits for the commit, and the exit code is 0', async () => {
    const servers = await openServers({ one: hourly }, 'run: { lock_timeout: 60 seconds }');
    await dueSince(servers, 3);
    const holder = await servers.database.pool.connect();
    await holder.query('begin; lock table gold.one in access exclusive mode');
    const server = start(
      workDirectory(servers.yaml),
      servers.database.url,
      'serve',
      '--listen',
      '127.0.0.1:0',
    );
    const port = await portOf(server);
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe('ok\n');
    expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()).toBe('ok\n');
    await untilItWaits(servers);
    server.signal('SIGTERM');
    await server.said('stops when what is under way is committed');
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    await holder.query('rollback');
    holder.release();
    const ended = await server.ended;
    expect({ exitCode: ended.exitCode, stdout: ended.stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(await servers.answered()).toMatchObject([{ rollup: 'one', missed: '2', outcome: 'done' }]);
    const last = ended.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .find(({ outcome }) => outcome !== undefined);
    expect(last).toMatchObject({ rollup: 'one', outcome: 'done', missed: '2' });
  });

  test('a second SIGTERM cancels the run: nothing is half done, and the exit code is 143', async () => {
    const servers = await openServers({ one: hourly }, 'run: { lock_timeout: 60 seconds }');
    await dueSince(servers, 3);
    const holder = await servers.database.pool.connect();
    await holder.query('begin; lock table gold.one in access exclusive mode');
    const server = start(
      workDirectory(servers.yaml),
      servers.database.url,
      'serve',
      '--listen',
      '127.0.0.1:0',
    );
    await portOf(server);
    await untilItWaits(servers);
    server.signal('SIGTERM');
    await server.said('stops when');
    server.signal('SIGTERM');
    expect((await server.ended).exitCode).toBe(143);
    await holder.query('rollback');
    holder.release();
    const { rows } = await servers.database.pool.query(
      "select (select count(*) from errata.run where outcome <> 'failed') as runs, (select count(*) from errata.due_moment) as answered, (select count(*) from errata.back_off) as waits",
    );
    expect(rows).toEqual([{ runs: '0', answered: '0', waits: '0' }]);
  });

  test('SIGKILL in the middle of a run: the next server answers the moment', async () => {
    const servers = await openServers({ one: hourly }, 'run: { lock_timeout: 60 seconds }');
    await dueSince(servers, 2);
    const directory = workDirectory(servers.yaml);
    const holder = await servers.database.pool.connect();
    await holder.query('begin; lock table gold.one in access exclusive mode');
    const killed = startDirectly(directory, servers.database.url, 'serve', '--listen', '127.0.0.1:0');
    await untilItWaits(servers);
    killed.signal('SIGKILL');
    await killed.ended;
    await holder.query('rollback');
    holder.release();
    const next = start(directory, servers.database.url, 'serve', '--listen', '127.0.0.1:0');
    await next.said('"outcome":"done"');
    next.signal('SIGTERM');
    expect((await next.ended).exitCode).toBe(0);
    expect(await servers.answered()).toMatchObject([{ missed: '1', outcome: 'done' }]);
  });
});

test('pages alone: nothing runs, though it is due', async () => {
  const servers = await openServers({ one: hourly });
  await dueSince(servers, 3);
  const server = start(
    workDirectory(servers.yaml.replace(/\n {4}schedule:.*/, '')),
    servers.database.url,
    'serve',
    '--only-pages',
    '--listen',
    '127.0.0.1:0',
  );
  await server.said('serves the pages alone');
  const port = /at http:\/\/127\.0\.0\.1:(\d+)/.exec(server.stderr())?.[1] as string;
  const page = await fetch(`http://127.0.0.1:${port}/`);
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining('<a href="/rollups/one">one</a>'),
  ]);
  server.signal('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
  expect(await servers.answered()).toEqual([]);
});

describe('what it refuses to begin with', () => {
  const nowhere = 'postgres://etl:open-sesame@127.0.0.1:9/orders';
  const yaml = scheduledYaml({ one: hourly });

  test('a schedule that nobody has, and a token that can be guessed, which is not shown', async () => {
    const without = yaml.replace(/\n {4}schedule:.*/, '');
    expect(await errata(workDirectory(without), nowhere, 'serve')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'no rollup has a schedule\n  hint:   add schedule: { cron: "*/15 * * * *", time_zone: UTC } to a rollup in errata.yaml, or name --only-pages\n',
    });
    const short = startWith(
      { DATABASE_URL: nowhere, ERRATA_SERVE_TOKEN: 'hunter2' },
      workDirectory(yaml),
      'serve',
    );
    const ended = await short.ended;
    expect(ended).toMatchObject({ exitCode: 2 });
    expect(ended.stderr).toContain('ERRATA_SERVE_TOKEN cannot serve as a token');
    expect(ended.stderr).not.toContain('hunter2');
  });

  test('a database that is not migrated, and a place that is taken', async () => {
    const { url, pool } = await openTestDatabase();
    await pool.query(orders);
    const directory = workDirectory(yaml);
    expect(await errata(directory, url, 'serve', '--listen', '127.0.0.1:0')).toMatchObject({
      exitCode: 2,
      stderr: 'schema "errata" has no tables for schedules\n  hint:   run `errata migrate`\n',
    });
    const settings = parseSettings(yaml, 'errata.yaml', {});
    await migrateAll(controlOf(pool, settings.schema), settings);
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const taken = await errata(directory, url, 'serve', '--listen', `127.0.0.1:${port}`);
    other.close();
    expect(taken.exitCode).toBe(1);
    expect(taken.stderr).toContain(`nothing can listen on 127.0.0.1, port ${port}\n`);
  });
});
