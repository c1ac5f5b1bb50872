/** The databases that the tests of the pages look at, each served by the application itself, without a port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { pino } from 'pino';
import { openRollup } from '../../src/catalog/open.ts';
import type { Rollup } from '../../src/catalog/rollup.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import type { Duration, RollupSettings, Settings } from '../../src/config/settings.ts';
import { type Control, controlOf } from '../../src/db/control.ts';
import { migrateAll } from '../../src/install/install.ts';
import { pages } from '../../src/pages/pages.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { rejectProposals } from '../../src/publication/decide.ts';
import { closePeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { httpApp } from '../../src/server/http.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { onFileEnd } from '../support/file-end.ts';
import { openSite, type Site } from '../support/site.ts';

export const hostile = `<script>document.title = 'taken'</script> & "quoted" 'twice'`;

export const said: string[] = [];
const logger = pino({ level: 'error' }, { write: (line: string) => void said.push(line) });

export function appOf(control: Control, settings: Settings, token?: string, timeout?: Duration): Hono {
  return httpApp({ token, logger, open: new Hono(), guarded: pages(control, settings, logger, timeout) });
}

export type Ask = (
  path: string,
  headers?: Record<string, string>,
) => Promise<{ status: number; html: string; headers: Headers }>;

export function asker(app: Hono): Ask {
  return async (path, headers = {}) => {
    const answer = await app.request(`http://127.0.0.1:8787${path}`, {
      headers: { host: '127.0.0.1:8787', ...headers },
    });
    return { status: answer.status, html: await answer.text(), headers: answer.headers };
  };
}

/** On a port of its own, for a browser; closed when the test file ends. */
export async function served(app: Hono): Promise<string> {
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** October as finance lives it, in Berlin: corrections by policy and by a person, waived, rejected, proposed and held rows; a close. */
export async function openOctober(): Promise<Site & { readonly rollup: Rollup }> {
  const site = await openSite({
    window: '{ calendar: 1 day, time_zone: Europe/Berlin }',
    lateness: '24 hours',
    policy: 'grace, review_beyond: { revenue: 400.00 }',
  });
  const control = site.controls.job;
  const rollup = await openRollup(control, site.settings, site.settings.rollups[0] as RollupSettings);
  await site.database.pool.query(`insert into bronze.orders
    select 'o' || d || '-' || n, timestamptz '2026-10-01T10:00Z' + d * interval '1 day', timestamptz '2026-10-01T10:01Z' + d * interval '1 day' + n * interval '0.7 seconds',
      (array['EU', 'US', null, ''])[1 + n % 4], 2.5
    from generate_series(0, 28) as d, generate_series(1, case d when 28 then 1402 else 40 + 7 * (d % 5) end) as n`);
  await site.land('p1 10-30 01:30 10-30 01:30 EU 1');
  await runRollup(control, rollup, { bound: '2026-10-30T02:00Z' });
  await site.land(
    '8840 10-29 17:00 10-30 01:40 EU 10',
    '8843 10-29 11:00 10-30 01:41 US 12.25',
    '8844 10-29 12:00 10-30 01:41 NULL -5.10',
    'much 10-29 17:00 10-30 01:41 ZZ 500',
    'dear 10-29 17:00 10-30 01:42 YY 700',
    'p3 11-01 04:00 11-01 04:00 EU 1',
    '8841 10-29 18:02 11-01 05:00 EU 20',
    '8842 10-29 19:00 11-01 05:00 EU 40',
    '8845 10-12 19:00 11-01 05:00 US 15.5',
    '8846 10-13 19:00 11-01 05:00 US 12.25',
    '8847 10-13 19:30 11-01 05:00 US 2.25',
    '8848 10-20 19:30 11-01 05:00 NULL 2.25',
  );
  await runRollup(control, rollup, { bound: '2026-11-01T06:00Z' });
  const [ada, bound] = [{ actor: 'ada', reason: 'ticket 311' }, { bound: '2026-11-01T06:00Z' }];
  await releaseEvents(control, rollup, { ...ada, eventIds: ['8841', '8846'] }, bound);
  await waiveEvents(control, rollup, { ...ada, reason: hostile, eventIds: ['8842'] });
  await rejectProposals(control, rollup, { ...ada, reason: hostile, key: { region: 'ZZ' } }, bound);
  await closePeriod(control, rollup, { ...ada, period: '2026-10' });
  await site.land(
    '8850 10-29 20:00 11-03 10:00 EU 80',
    '8851 11-01 20:00 11-03 10:00 EU 80',
    'p4 11-03 12:00 11-03 12:00 EU 1',
    '8852 11-02 10:00 11-03 12:30 EU 900',
  );
  await runRollup(control, rollup, { bound: '2026-11-03T13:00Z' });
  await releaseEvents(control, rollup, { ...ada, eventIds: ['8850'] }, { bound: '2026-11-03T13:00Z' });
  return { ...site, rollup };
}

export interface Odd {
  readonly database: TestDatabase;
  readonly control: Control;
  readonly settings: Settings;
}

/** Names with quotes, blanks and markup; no key; sessions; hopping windows; measures that do not add up; and one never migrated. */
export async function openOdd(): Promise<Odd> {
  const database = await openTestDatabase();
  await database.pool.query(`create schema "Odd ""Schema";
    create table "Odd ""Schema"."select" ("Id" text, "When" timestamptz, "Landed" timestamptz, "Group 'by'" text, "<b>&ü $1" text, v integer);
    insert into "Odd ""Schema"."select" values
      ('1', '2026-10-29 10:00+00', '2026-10-29 10:00+00', '<script>x</script>', 'ü/?#&=%"''\\', 1),
      ('2', '2026-11-02 10:00+00', '2026-11-02 10:00+00', '7', null, 1),
      ('3', '2026-10-29 11:00+00', '2026-11-02 11:00+00', '<script>x</script>', 'ü/?#&=%"''\\', 5),
      ('4', '2026-10-29 11:00+00', '2026-10-29 11:00+00', null, null, 5),
      ('5', '2026-10-29 11:00+00', '2026-11-02 11:00+00', null, '', 5),
      ('6', '2026-10-29 10:00+00', '2026-10-29 10:00+00', 'NULL', null, 1);
    create table "Odd ""Schema".empty (id text, at timestamptz, landed timestamptz, v integer)`);
  const bronze = `bronze: { table: '"Odd ""Schema"."select"', event_id: Id, event_time: When, ingested_at: Landed, complete_from: 2026-01-01 }
    watermark: { strategy: bounded, delay: 1 hour }
    seal: { by: errata }
    publish: { policy: grace }`;
  const both = `["Group 'by'", "<b>&ü $1"]`;
  const settings = parseSettings(
    `schema: 'Control "Schema"'
periods: { calendar: month, time_zone: Asia/Kolkata }
rollups:
  odd:
    gold: '"Gold 1"."The ""<i>Sum"""'
    window: { tumbling: 1 day }
    key: ${both}
    measures: { greatest: max(v), label: "string_agg(v::text, '+<' order by v)", total: sum(v), mean: avg(v) }
    ${bronze}
  peak:
    gold: gold.peak
    window: { calendar: 1 month, time_zone: Asia/Kolkata }
    key: []
    measures: { greatest: max(v) }
    ${bronze}
  visits:
    gold: gold.visits
    window: { session_gap: 30 minutes }
    key: ${both}
    measures: { views: count(*) }
    ${bronze}
  hops:
    gold: gold.hops
    window: { hopping: 1 hour, every: 20 minutes }
    key: []
    measures: { views: count(*), total: sum(v) }
    ${bronze}
  nothing:
    gold: gold.nothing
    window: { calendar: 1 hour, time_zone: UTC }
    key: [v]
    measures: { views: count(*) }
    bronze: { table: '"Odd ""Schema".empty', event_id: id, event_time: at, ingested_at: landed, complete_from: 2026-01-01 }
    watermark: { strategy: bounded, delay: 1 hour }
    seal: { by: errata }
    publish: { policy: review }
`,
    'errata.yaml',
    {},
  );
  const control = controlOf(database.pool, settings.schema);
  await migrateAll(control, settings);
  for (const one of settings.rollups)
    await runRollup(control, await openRollup(control, settings, one), { bound: '2026-11-02T12:00:00Z' });
  const [first] = settings.rollups as [RollupSettings];
  return {
    database,
    control,
    settings: { ...settings, rollups: [...settings.rollups, { ...first, name: 'never' }] },
  };
}
