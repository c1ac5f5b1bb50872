/** Memory of a server over many runs and scrapes: ERRATA_SERVE_RUNS=1000 for the long mode. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { metrics } from '../../src/server/metrics.ts';
import { openServers } from './servers.ts';

const runs = Number(process.env.ERRATA_SERVE_RUNS ?? 0);
/** By then everything has been loaded and compiled. */
const warm = 200;
const megabyte = 1024 * 1024;

test.skipIf(runs <= warm)(
  `flat from run ${warm} to run ${runs}`,
  async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = () => {
      collect();
      const { heapUsed, external, rss } = process.memoryUsage();
      return { held: (heapUsed + external) / megabyte, resident: rss / megabyte };
    };
    const servers = await openServers({ one: { cron: '* * * * *', timeZone: 'Europe/Berlin' } });
    const server = servers.start();
    const app = metrics(servers.control, servers.settings, pino({ level: 'silent' }));
    const at = (minute: number) =>
      new Date(Date.parse('2026-02-01T00:00:00Z') + minute * 60_000).toISOString();
    await server.tick(at(0));
    let before = held();
    for (let minute = 1; minute <= runs; minute++) {
      await server.tick(at(minute));
      expect((await (await app.request('/metrics')).text()).length).toBeGreaterThan(1000);
      if (minute === warm) before = held();
    }
    const after = held();
    const shown = ({ held: used, resident }: typeof after) =>
      `${used.toFixed(1)} MB held, ${resident.toFixed(0)} MB resident`;
    console.info(`after ${warm} runs ${shown(before)}; after ${runs} runs ${shown(after)}`);
    expect(await servers.answered()).toHaveLength(runs);
    expect(after.held - before.held).toBeLessThan(3);
  },
  3_600_000,
);
