/** What a server does with what is due, one occasion at a time, on a clock of the test's own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openRollup } from '../../src/catalog/open.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { pauseRollup, resumeRollup } from '../../src/publication/acts.ts';
import { concernsOf } from '../../src/report/status/concerns.ts';
import { readStatus } from '../../src/report/status/status.ts';
import { statusText } from '../../src/report/status/text.ts';
import { backOff } from '../../src/schedule/back-off.ts';
import { claim, NothingDue } from '../../src/schedule/claim.ts';
import { openServers, type Servers } from './servers.ts';

const hourly = { cron: '0 * * * *', timeZone: 'UTC' };
const speaker = { actor: 'anna', reason: 'a test' };
const patience = { timeout: 20_000 };
const at = (time: string) => `2026-02-01 ${time}:00+00`;

const lines = async (servers: Servers, rollup?: string) =>
  (await servers.answered(rollup)).map(
    (one) =>
      `${one.rollup} ${one.first_due_at.slice(11, 16)}-${one.due_at.slice(11, 16)} missed ${one.missed}`,
  );

async function backOffs(servers: Servers): Promise<string[]> {
  const { rows } = await servers.database.pool.query(
    `select format('%s %s until %s: %s', r.name, b.failures, to_char(b.next_attempt_at at time zone 'UTC', 'HH24:MI'), b.error) as line
     from errata.back_off as b join errata.rollup as r using (rollup_id) order by 1`,
  );
  return rows.map(({ line }) => line);
}

test('a schedule counts from when it is first seen; each moment has one run, and what was missed has one together', async () => {
  const servers = await openServers({ one: hourly });
  const first = servers.start();
  await first.tick(at('09:30'));
  await first.tick(at('09:59'));
  expect(await lines(servers)).toEqual([]);
  await first.tick(at('10:00'));
  await first.tick(at('10:00'));
  await first.tick(at('10:01'));
  expect(await lines(servers)).toEqual(['one 10:00-10:00 missed 0']);
  // a restart, after three hours
  const second = servers.start();
  await second.tick(at('13:05'));
  // the clock steps back, and comes again
  await second.tick(at('12:30'));
  await second.tick(at('13:06'));
  expect(await lines(servers)).toEqual(['one 10:00-10:00 missed 0', 'one 11:00-13:00 missed 2']);
  const [run] = (
    await servers.database.pool.query('select count(*) as runs, max(verb) as verb from errata.run')
  ).rows;
  expect(run).toEqual({ runs: '2', verb: 'run' });
});

test('B23: 30 2 * * * in Berlin runs once on each local date, also where 02:30 is skipped or comes twice', async () => {
  const servers = await openServers({ nightly: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' } });
  const server = servers.start();
  for (const [from, until] of [
    ['2026-03-27T23:15Z', '2026-03-30T21:45Z'],
    ['2026-10-23T22:15Z', '2026-10-26T22:45Z'],
  ] as const) {
    for (let now = Date.parse(from); now <= Date.parse(until); now += 60 * 60_000)
      await server.tick(new Date(now).toISOString());
    // in between nobody was there: what was missed has one run together, which is not looked at below
    if (from.startsWith('2026-03')) await server.tick('2026-10-23T21:59Z');
  }
  const { rows } = await servers.database.pool.query(
    `select to_char(m.due_at at time zone 'UTC', 'MM-DD HH24:MI') as due, to_char(m.due_at at time zone 'Europe/Berlin', 'MM-DD') as local_date, m.missed
     from errata.run as r left join errata.due_moment as m using (run_id) order by m.due_at`,
  );
  expect(rows.filter(({ missed }) => missed === '0').map(({ due, local_date }) => [local_date, due])).toEqual(
    [
      ['03-28', '03-28 01:30'],
      ['03-29', '03-29 01:00'],
      ['03-30', '03-30 00:30'],
      ['10-24', '10-24 00:30'],
      ['10-25', '10-25 00:30'],
      ['10-26', '10-26 01:30'],
    ],
  );
  // every run answered a moment
  expect(rows).toHaveLength(7);
}, 60_000);

test('two servers at one instant: one run', async () => {
  const servers = await openServers({ one: hourly, two: hourly });
  const both = [servers.start(), servers.start()];
  const tick = async (now: string) => await Promise.all(both.map((server) => server.tick(now)));
  await tick(at('09:30'));
  for (const hour of ['10', '11', '12', '13', '14']) {
    await tick(at(`${hour}:00`));
    await tick(at(`${hour}:01`));
  }
  const hours = ['10', '11', '12', '13', '14'];
  expect(await lines(servers)).toEqual(
    ['one', 'two'].flatMap((name) => hours.map((hour) => `${name} ${hour}:00-${hour}:00 missed 0`)),
  );
  const { rows } = await servers.database.pool.query('select outcome, count(*) from errata.run group by 1');
  expect(rows).toEqual([{ outcome: 'done', count: '10' }]);
});

test('who looked before another run answered it finds nothing due, and its run leaves nothing', async () => {
  const servers = await openServers({ one: hourly });
  const { control, settings } = servers;
  await servers.start().tick(at('09:30'));
  const [chosen] = settings.rollups;
  if (!chosen) throw new Error('no rollup');
  const rollup = await openRollup(control, settings, chosen);
  const answer = () =>
    runRollup(control, rollup, {
      begun: async (run) => void (await claim(run, hourly, at('11:00'))),
    });
  await answer();
  await expect(answer()).rejects.toThrow(NothingDue);
  expect(await lines(servers)).toEqual(['one 10:00-11:00 missed 1']);
  const { rows } = await servers.database.pool.query('select run_id, outcome from errata.run');
  expect(rows).toEqual([{ run_id: '1', outcome: 'done' }]);
});

test('a run by hand holds the rollup: the moment stays due, and nothing waits for an hour', async () => {
  const servers = await openServers({ one: hourly });
  const server = servers.start();
  await server.tick(at('09:30'));
  const holder = await servers.database.pool.connect();
  await holder.query("begin; select pg_advisory_xact_lock(hashtextextended('errata errata rollup 1', 0))");
  await server.tick(at('10:00'));
  expect(await lines(servers)).toEqual([]);
  await holder.query('rollback');
  holder.release();
  await server.tick(at('10:01'));
  expect(await lines(servers)).toEqual(['one 10:00-10:00 missed 0']);
  expect(await backOffs(servers)).toEqual([]);
});

test('a rollup that fails backs off, also over a restart, and others go on; success ends it', async () => {
  const servers = await openServers({ bad: hourly, good: hourly });
  const { pool } = servers.database;
  const server = servers.start();
  await server.tick(at('09:30'));
  // the settings of the server are older than what has been migrated
  await pool.query(
    "update errata.rollup set definition_fingerprint = (select definition_fingerprint from errata.rollup where name = 'good') where name = 'bad'",
  );
  const error = 'rollup "bad" has changed since it was migrated';
  await server.tick(at('10:00'));
  expect(await backOffs(servers)).toEqual([`bad 1 until 10:01: ${error}`]);
  expect(await lines(servers)).toEqual(['good 10:00-10:00 missed 0']);
  // another server at the same instant does not double the wait
  const other = servers.start();
  await other.tick(at('10:00'));
  await other.tick(at('10:00'));
  expect(await backOffs(servers)).toEqual([`bad 1 until 10:01: ${error}`]);
  const until: string[] = [];
  for (const time of ['10:01', '10:03', '10:07', '10:15', '10:31', '11:03', '12:03', '13:03']) {
    await other.tick(at(time));
    until.push(((await backOffs(servers))[0] ?? '').slice(0, 17));
  }
  expect(until).toEqual([
    'bad 2 until 10:03',
    'bad 3 until 10:07',
    'bad 4 until 10:15',
    'bad 5 until 10:31',
    'bad 6 until 11:03',
    'bad 7 until 12:03',
    'bad 8 until 13:03',
    'bad 9 until 14:03',
  ]);
  await pool.query(
    "update errata.rollup set definition_fingerprint = (select fingerprint from errata.definition where rollup = 'bad') where name = 'bad'",
  );
  const restarted = servers.start();
  await restarted.tick(at('13:30'));
  expect(await lines(servers, 'bad')).toEqual([]);
  await restarted.tick(at('14:03'));
  expect(await lines(servers, 'bad')).toEqual(['bad 10:00-14:00 missed 4']);
  expect(await backOffs(servers)).toEqual([]);
});

test('a run that somebody else starts ends the wait too', async () => {
  const servers = await openServers({ one: hourly });
  const [chosen] = servers.settings.rollups;
  if (!chosen) throw new Error('no rollup');
  const server = servers.start();
  await server.tick(at('09:30'));
  await servers.database.pool.query('alter table bronze.orders rename to moved');
  await server.tick(at('10:00'));
  expect(await backOffs(servers)).toHaveLength(1);
  await servers.database.pool.query('alter table bronze.moved rename to orders');
  await runRollup(servers.control, await openRollup(servers.control, servers.settings, chosen));
  expect(await backOffs(servers)).toEqual([]);
});

test('status shows the schedule, how far it is answered, and what backs off', async () => {
  const servers = await openServers({ one: hourly });
  const [chosen] = servers.settings.rollups;
  if (!chosen) throw new Error('no rollup');
  const status = async () => await readStatus(servers.control, servers.settings, chosen);
  const text = async () => statusText(await status(), chosen);
  expect(await text()).toContain('  schedule    0 * * * * (UTC), no run has answered it yet\n');
  const server = servers.start();
  await server.tick(at('09:30'));
  await server.tick(at('11:00'));
  expect(await text()).toContain(
    '  schedule    0 * * * * (UTC), answered until 2026-02-01 11:00:00Z, 1 moment before it missed\n',
  );
  await servers.database.pool.query('alter table bronze.orders rename to moved');
  await server.tick(at('12:00'));
  expect(await text()).toContain(
    '  ! 1 scheduled run failed in succession, the next is not before 2026-02-01 12:01:00Z: rollup "one" does not fit its bronze\n' +
      '      errata check; then errata run one\n',
  );
  expect(concernsOf(await status(), chosen).map(({ exitCode }) => exitCode)).toContain(1);
});

test('two servers that fail at one instant wait once', async () => {
  const servers = await openServers({ one: hourly });
  const fail = (now: string) =>
    inTransaction(servers.control, 'read committed', (transaction) =>
      backOff(transaction, 'errata', 1, now, 'no'),
    );
  const first = { failures: 1, next_attempt_at: at('10:01') };
  expect([await fail(at('10:00')), await fail(at('10:00'))]).toEqual([first, first]);
  expect(await fail(at('10:01'))).toEqual({ failures: 2, next_attempt_at: at('10:03') });
});

test('a rollup that takes long holds up no other, and is not begun twice', async () => {
  const servers = await openServers({ slow: hourly, quick: hourly }, 'run: { lock_timeout: 60 seconds }');
  const server = servers.start();
  await server.tick(at('09:30'));
  const holder = await servers.database.pool.connect();
  await holder.query('begin; lock table gold.slow in access exclusive mode');
  const ticked = server.tick(at('10:00'));
  await expect.poll(() => lines(servers, 'quick'), patience).toHaveLength(1);
  await expect
    .poll(async () => {
      await server.tick(at('11:00'));
      return await lines(servers);
    }, patience)
    .toEqual(['quick 10:00-10:00 missed 0', 'quick 11:00-11:00 missed 0']);
  await holder.query('rollback');
  holder.release();
  await ticked;
  await server.tick(at('11:00'));
  expect(await lines(servers, 'slow')).toEqual(['slow 10:00-10:00 missed 0', 'slow 11:00-11:00 missed 0']);
});

test('a paused rollup waits without a failure; resumed, what was due meanwhile has one run', async () => {
  const servers = await openServers({ one: hourly });
  const server = servers.start();
  await server.tick(at('09:30'));
  const [chosen] = servers.settings.rollups;
  if (!chosen) throw new Error('no rollup');
  await pauseRollup(servers.control, servers.settings, chosen, speaker);
  await server.tick(at('10:00'));
  await server.tick(at('11:00'));
  expect([await lines(servers), await backOffs(servers)]).toEqual([[], []]);
  await resumeRollup(servers.control, servers.settings, chosen, speaker);
  await server.tick(at('12:00'));
  expect(await lines(servers)).toEqual(['one 10:00-12:00 missed 2']);
});

test('a rollup that was dropped, or never migrated, hides no other', async () => {
  const servers = await openServers({ gone: hourly, here: hourly });
  const server = servers.start();
  await server.tick(at('09:30'));
  await servers.database.pool.query("update errata.rollup set dropped_at = now() where name = 'gone'");
  await server.tick(at('10:00'));
  expect(await lines(servers)).toEqual(['here 10:00-10:00 missed 0']);
});

test('notices are delivered as after errata run, also those that waited', async () => {
  const got: string[] = [];
  const receiver = createServer((request, response) => {
    got.push(String(request.headers['errata-notice']));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const servers = await openServers({ one: hourly }, `notices: { webhook: "http://127.0.0.1:${port}/" }`);
  const server = servers.start();
  await server.tick(at('09:30'));
  await server.tick(at('10:00'));
  await servers.database.pool.query(
    `insert into errata.outbox (run_id, notice) values (1, '{"rollup": "one"}')`,
  );
  await server.tick(at('10:01'));
  receiver.close();
  const { rows } = await servers.database.pool.query(
    'select notice_id from errata.outbox where delivered_at is not null order by notice_id',
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(got).toEqual(rows.map((row) => row.notice_id));
});

test('asked to stop, it begins nothing, and says so of nothing that is due', async () => {
  const servers = await openServers({ one: hourly });
  const server = servers.start();
  await server.tick(at('09:30'));
  server.stop();
  await server.tick(at('10:00'));
  await server.loop.idle();
  expect(await lines(servers)).toEqual([]);
});

test('what was done is logged with the moment it answers, and what failed with its next attempt', async () => {
  const servers = await openServers({ one: hourly });
  const said: string[] = [];
  const server = servers.start(pino({ level: 'info' }, { write: (line: string) => void said.push(line) }));
  await server.tick(at('09:30'));
  await server.tick(at('11:00'));
  await servers.database.pool.query('alter table bronze.orders rename to moved');
  await server.tick(at('12:00'));
  expect(said.map((line) => JSON.parse(line))).toMatchObject([
    { rollup: 'one', outcome: 'done', due_at: at('11:00'), missed: '1', run_id: '1' },
    { rollup: 'one', outcome: 'failed', failures: 1, next_attempt_at: at('12:01') },
  ]);
});
