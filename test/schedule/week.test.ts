/** Days on a fake clock, over changes of clock, with two servers that are killed at random: each due moment exactly once. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openServers, type Server, type Servers } from './servers.ts';

/** Each with the change of its zone's clock in it. ERRATA_SCHEDULE_WEEK=1: a whole week, and ticks as close as in life. */
const isLong = process.env.ERRATA_SCHEDULE_WEEK === '1';
const seed = Number(process.env.ERRATA_SEED ?? 8841);
const stretches = isLong
  ? [
      { change: 'spring', from: '2026-03-25 12:00Z', until: '2026-04-01 12:00Z', zone: 'Europe/Berlin' },
      { change: 'autumn', from: '2026-10-21 12:00Z', until: '2026-10-28 12:00Z', zone: 'Europe/Berlin' },
      { change: 'spring', from: '2026-03-04 12:00Z', until: '2026-03-11 12:00Z', zone: 'America/New_York' },
      { change: 'autumn', from: '2026-10-28 12:00Z', until: '2026-11-04 12:00Z', zone: 'America/New_York' },
      {
        change: 'spring',
        from: '2026-09-30 12:00Z',
        until: '2026-10-07 12:00Z',
        zone: 'Australia/Lord_Howe',
      },
    ]
  : [
      { change: 'spring', from: '2026-03-28 20:00Z', until: '2026-03-29 05:00Z', zone: 'Europe/Berlin' },
      { change: 'autumn', from: '2026-11-01 01:00Z', until: '2026-11-01 10:00Z', zone: 'America/New_York' },
    ];
const most = isLong ? 10 : 40;

/** The generator of Park and Miller: the same kills for the same seed. */
let state = seed;
const random = () => {
  state = (state * 48_271) % 2_147_483_647;
  return state / 2_147_483_647;
};

test.each(stretches)(
  `$change in $zone, from $from until $until, seed ${seed}`,
  async ({ from, until, zone }) => {
    const servers = await openServers({
      every_two_hours: { cron: '0 */2 * * *', timeZone: zone },
      nightly: { cron: '30 2 * * *', timeZone: zone },
      half_hourly: { cron: '*/30 * * * *', timeZone: zone },
    });
    const both: Server[] = [servers.start(), servers.start()];
    const instants: string[] = [];
    for (let time = Date.parse(from.replace(' ', 'T')); time <= Date.parse(until.replace(' ', 'T')); ) {
      instants.push(new Date(time).toISOString());
      time += Math.ceil(random() * most) * 60_000;
    }
    let kills = 0;
    for (const now of instants) {
      const ticks = both.map((server) => server.tick(now));
      if (random() < (isLong ? 0.05 : 0.4)) {
        const place = random() < 0.5 ? 0 : 1;
        await pause(random() * 120);
        await both[place]?.kill();
        both[place] = servers.start();
        kills++;
      }
      await Promise.all(ticks);
    }
    // whoever died last left something to the one who comes
    for (let more = 1; more <= 3; more++) for (const server of both) await server.tick(instants.at(-1));
    const first = instants[0] as string;
    for (const rollup of ['every_two_hours', 'nightly', 'half_hourly'])
      await mustBeAnsweredOnce(servers, rollup, first, instants.at(-1) as string);
    const { rows } = await servers.database.pool.query(
      `select count(*) as runs, count(m.run_id) as scheduled
       from errata.run as u left join errata.due_moment as m using (run_id) where u.outcome <> 'failed'`,
    );
    console.info(`${instants.length} ticks of two servers, ${rows[0].runs} runs, ${kills} kills`);
    expect(rows[0].scheduled).toBe(rows[0].runs);
    expect(kills).toBeGreaterThan(3);
  },
  7_200_000,
);

/** Each moment lies between the first and the last of exactly one run, and each run has exactly its moments. */
async function mustBeAnsweredOnce(
  servers: Servers,
  rollup: string,
  after: string,
  until: string,
): Promise<void> {
  const moments = await servers.momentsOf(rollup, after, until);
  const answered = await servers.answered(rollup);
  const runsOf = moments.map(
    (moment) =>
      answered.filter(({ first_due_at: from, due_at: to }) => from <= moment && moment <= to).length,
  );
  expect(new Set(runsOf)).toEqual(new Set([1]));
  expect(answered.reduce((sum, { missed }) => sum + Number(missed) + 1, 0)).toBe(moments.length);
  expect(answered.every((one) => moments.includes(one.first_due_at) && moments.includes(one.due_at))).toBe(
    true,
  );
}
