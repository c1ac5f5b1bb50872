/** A password reaches no output, no log and no table, whichever verb meets whatever goes wrong. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRollup } from '../../src/catalog/open.ts';
import { verbs } from '../../src/cli/verbs.ts';
import type { RollupSettings } from '../../src/config/settings.ts';
import { rememberPasswords } from '../../src/output/secrets.ts';
import { noteFailure } from '../../src/pipeline/report.ts';
import { type Ended, errata, startWith, workDirectory } from '../commands/command.ts';
import { openSite } from '../support/site.ts';

const passwords = [
  'correct horse battery',
  'p@ss:w/ord?#1',
  `quo'te"d \\ back`,
  'pässwörd ü',
  '100%sure%41',
  '$' + '{HOME}$1',
];
const inUrl = (password: string) => encodeURIComponent(password);

/** As it is, as a URL has it, as JSON has it. */
function forms(password: string): string[] {
  return [password, inUrl(password), JSON.stringify(password).slice(1, -1)];
}

function expectHidden({ stdout, stderr }: Ended, password: string): void {
  for (const form of forms(password)) {
    expect(stdout).not.toContain(form);
    expect(stderr).not.toContain(form);
  }
}

const yaml = `
database: postgres://etl:\${SECRET}@127.0.0.1:\${PORT}/orders
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, event_id: id, event_time: at, ingested_at: landed }
    window: { calendar: 1 day, time_zone: UTC }
    measures: { orders: count(*) }
    watermark: { strategy: bounded, delay: 1 hour }
    seal: { by: errata }
    publish: { policy: auto }
`;

/** Each is a process of its own: every verb with ERRATA_ALL_VERBS. */
const tried = process.env.ERRATA_ALL_VERBS
  ? verbs.map(({ name }) => name).filter((name) => name !== 'demo')
  : ['init', 'check', 'run', 'publish', 'status'];

/** What each verb takes to get as far as the database; `demo` starts a server of its own. */
const argumentsOf: Readonly<Record<string, readonly string[]>> = {
  init: ['--table', 'bronze.orders'],
  publish: ['daily_orders', '--all', '--actor', 'ada', '--reason', 'r'],
  release: ['daily_orders', '--all', '--actor', 'ada', '--reason', 'r'],
  amend: ['daily_orders', '--window', '2026-10-29', '--actor', 'ada', '--reason', 'r'],
  pause: ['daily_orders', '--actor', 'ada', '--reason', 'r'],
  resume: ['daily_orders', '--actor', 'ada', '--reason', 'r'],
  rename: ['daily_orders', 'by_day', '--actor', 'ada', '--reason', 'r'],
  drop: ['daily_orders', '--actor', 'ada', '--reason', 'r'],
  explain: ['daily_orders', '2026-10-29'],
  events: ['daily_orders'],
  find: ['1402'],
  lateness: ['daily_orders'],
  sql: ['daily_orders'],
};

/** Asks for the password and throws it back in the refusal, as a pooler or a plugin may. */
function echoingServer(): Server {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  return createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (data[0] !== 0x70) return socket.write(message('R', Buffer.from([0, 0, 0, 3])));
      const password = data.subarray(5, -1).toString();
      const fields = `SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed: "${password}" is wrong\0Dit was ${password}\0Hnot ${password}\0\0`;
      return socket.end(message('E', Buffer.from(fields)));
    });
  });
}

describe('a server that says the password', () => {
  const server = echoingServer();
  let port = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = String((server.address() as { port: number }).port);
  });
  afterAll(() => server.close());

  test.each(tried.map((name, place) => [name, passwords[place % passwords.length] as string] as const))(
    '%s with the password %s',
    async (verb, password) => {
      const url = `postgres://etl:${inUrl(password)}@127.0.0.1:${port}/orders`;
      const args = [verb, '--json', ...(argumentsOf[verb] ?? [])];
      // `init` writes a file of its own; the others have the password from a variable of the settings.
      const directory = workDirectory(verb === 'init' ? undefined : yaml);
      const environment = verb === 'init' ? { DATABASE_URL: url } : { SECRET: inUrl(password), PORT: port };
      const ended = await startWith(environment, directory, ...args).ended;
      expect(ended.exitCode).toBe(2);
      expect(ended.stdout + ended.stderr).toContain('password authentication failed');
      expect(ended.stderr).toContain('***');
      expectHidden(ended, password);
    },
  );

  test('by PGPASSWORD', async () => {
    const [password = ''] = passwords;
    const environment = {
      PGHOST: '127.0.0.1',
      PGPORT: port,
      PGUSER: 'etl',
      PGDATABASE: 'orders',
      PGPASSWORD: password,
    };
    const ended = await startWith(
      environment,
      workDirectory(yaml.replace(/^database.*\n/m, '')),
      'run',
      '--json',
    ).ended;
    expect(ended.stderr).toContain('password authentication failed');
    expectHidden(ended, password);
  });
});

test.each([
  [
    'no server there',
    `postgres://etl:${inUrl(passwords[1] as string)}@127.0.0.1:1/orders`,
    1,
    'no database answers at 127.0.0.1:1',
  ],
  [
    'no such host',
    `postgres://etl:${inUrl(passwords[1] as string)}@nowhere.invalid/orders`,
    1,
    'no database answers',
  ],
  [
    'a password that is not encoded',
    `postgres://etl:${passwords[1]}@127.0.0.1:1/orders`,
    2,
    'cannot be read',
  ],
  [
    'a password that looks encoded and is not',
    `postgres://etl:${passwords[4]}%@127.0.0.1:1/orders`,
    1,
    'no database answers',
  ],
  ['no URL', `etl:${passwords[1]}@127.0.0.1`, 2, 'is not a database URL'],
])('%s', async (_, url, exitCode, message) => {
  const ended = await errata(workDirectory(yaml.replace(/^database.*\n/m, '')), url, 'run', '--json');
  expect([ended.exitCode, ended.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  for (const password of passwords) expectHidden(ended, password);
});

test('a password that works: no verb prints it, and no table holds it', async () => {
  const site = await openSite({
    measures: '{ orders: count(*), revenue: sum(amount), ratio: sum(1 / (amount - 13)) }',
  });
  await site.land(
    'a 10-29 10:00 10-29 10:01',
    'bad 10-29 11:00 10-29 11:01 EU 13',
    'pass 10-30 02:00 10-30 02:01 ZZ',
  );
  const directory = workDirectory(site.yaml);
  const words = [
    ['run'],
    ['run', '--bound', '2026-01-01T00:00Z'],
    ['check'],
    ['status'],
    ['explain', 'daily_orders', '2026-10-29', 'EU'],
    ['grants'],
    ['sql', 'daily_orders'],
  ];
  // The run first: what the others say is more once something has happened.
  for (const args of words) {
    const ended = await errata(directory, site.urls.job, ...args, '--json');
    expect(ended.stdout + ended.stderr).not.toBe('');
    expectHidden(ended, 'job password');
  }
  const tables = await site.database.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('errata', 'gold')`,
  );
  const rows = await Promise.all(
    tables.rows.map(({ name }) =>
      site.database.pool.query<{ text: string }>(`select t::text as text from ${name} as t`),
    ),
  );
  const held = rows.flatMap((table) => table.rows.map(({ text }) => text)).join('\n');
  expect(held).toContain('division by zero');
  for (const form of forms('job password')) expect(held).not.toContain(form);
}, 120_000);

test('what a failed run leaves on record', async () => {
  const site = await openSite();
  rememberPasswords(`postgres://etl:${inUrl(passwords[1] as string)}@db/orders`, {
    PGPASSWORD: passwords[0],
  });
  const rollup = await openRollup(
    site.controls.job,
    site.settings,
    site.settings.rollups[0] as RollupSettings,
  );
  const error = Object.assign(new Error(`no entry for ${passwords[1]}`), {
    detail: `nor for ${passwords[0]}`,
    code: 'XX000',
  });
  await noteFailure(site.controls.job, rollup, 'run', error);
  const { rows } = await site.pools.auditor.query('select failure from errata.run');
  expect(rows).toEqual([{ failure: { message: 'no entry for ***', detail: 'nor for ***', code: 'XX000' } }]);
});
