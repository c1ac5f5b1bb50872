/** The reading verbs over rollups that are not of the plain kind: odd names, values that do not add up, another schema. */
import { expect, test } from 'vitest';
import { digest } from '../../src/commands/digest.ts';
import { explain } from '../../src/commands/explain.ts';
import { publish } from '../../src/commands/publish.ts';
import { status } from '../../src/commands/status.ts';
import { verify } from '../../src/commands/verify.ts';
import type { Explanation } from '../../src/report/explain/explain.ts';
import { openTestDatabase } from '../support/database.ts';
import { openErrata } from '../support/errata.ts';
import { call } from './verb-context.ts';

test('odd names, and measures that do not add up', async () => {
  const database = await openTestDatabase('migrated');
  await database.pool.query(`create schema "Odd ""Schema";
    create table "Odd ""Schema"."select" ("Id" text, "When" timestamptz, "Landed" timestamptz, "Group 'by'" integer, "c" text, v integer);
    insert into "Odd ""Schema"."select" values
      ('1', '2026-10-29 10:00+00', '2026-10-29 10:00+00', 7, 'x', 1),
      ('2', '2026-11-02 10:00+00', '2026-11-02 10:00+00', 7, 'x', 1),
      ('3', '2026-10-29 11:00+00', '2026-11-02 11:00+00', 7, 'x', 5)`);
  const errata = await openErrata(
    database,
    `schema: 'Control "Schema"'
rollups:
  odd:
    gold: '"Gold 1"."The ""Sum"""'
    bronze: { table: '"Odd ""Schema"."select"', event_id: Id, event_time: When, ingested_at: Landed, complete_from: 2026-01-01 }
    window: { tumbling: 1 day }
    key: ["Group 'by'", c]
    measures: { greatest: max(v), label: "string_agg(v::text, '+' order by v)", total: sum(v), mean: avg(v) }
    watermark: { strategy: bounded, delay: 1 hour }
    seal: { by: errata }
    publish: { policy: grace }
`,
  );
  await errata.run({ bound: '2026-11-02T12:00:00Z' });

  const waiting = await call(status, errata, [], {});
  expect(waiting.exitCode).toBe(3);
  expect(waiting.text).toContain('1 event, total 5 in 1 window');

  const flags = { key: ["Group 'by'=7", 'c=x'], actor: 'ada', reason: 'seen' };
  expect((await call(publish, errata, ['odd'], flags)).exitCode).toBe(0);
  const { data, text } = await call(explain, errata, ['odd', '2026-10-29', '7', 'x'], {});
  expect((data as Explanation).versions[1]?.measures).toEqual({
    greatest: { old: '1', new: '5', delta: '4' },
    label: { old: '1', new: '1+5', delta: null },
    total: { old: '1', new: '6', delta: '5' },
    mean: { old: '1.00000000000000000000', new: '3.0000000000000000', delta: '2.00000000000000000000' },
  });
  // only what adds up is in the sum check
  expect((data as Explanation).check).toMatchObject([{ measure: 'total', restated: '6', recounted: '6' }]);
  expect(text).toMatch(/label +1 +→ +1\+5\n/);
  expect(text).toContain('It adds up: ');

  expect((await call(digest, errata, [], {})).data).toMatchObject({
    rollups: [{ run_id: '2', versions: '2' }],
  });
  expect((await call(verify, errata, [], {})).exitCode).toBe(0);
  await errata.rows(
    `alter table "Gold 1"."The ""Sum""" disable trigger user; update "Gold 1"."The ""Sum""" set label = '1+6' where version = 2`,
  );
  const altered = await call(verify, errata, [], {});
  expect(altered.exitCode).toBe(3);
  expect(altered.text).toContain(
    "altered  2026-10-29 00:00Z to 2026-10-30 00:00Z, Group 'by' 7, c x, version 2: hashed by run 2",
  );
  expect(altered.text).toContain(
    'guard    trigger errata_refuse_change of "Gold 1"."The ""Sum""" is disabled',
  );
});

test('nothing adds up: no sum check, and no amounts', async () => {
  const database = await openTestDatabase('migrated');
  await database.pool.query(`create schema bronze;
    create table bronze.reading (id text, at timestamptz, landed timestamptz, v integer);
    insert into bronze.reading values
      ('1', '2026-10-29 10:00+00', '2026-10-29 10:00+00', 1),
      ('2', '2026-11-02 10:00+00', '2026-11-02 10:00+00', 1),
      ('3', '2026-10-29 11:00+00', '2026-11-02 11:00+00', 5)`);
  const errata = await openErrata(
    database,
    `rollups:
  peak:
    gold: gold.peak
    bronze: { table: bronze.reading, event_id: id, event_time: at, ingested_at: landed, complete_from: 2026-01-01 }
    window: { calendar: 1 day, time_zone: UTC }
    key: []
    measures: { greatest: max(v) }
    watermark: { strategy: bounded, delay: 1 hour }
    seal: { by: errata }
    publish: { policy: grace }
`,
  );
  await errata.run({ bound: '2026-11-02T12:00:00Z' });
  expect((await call(status, errata, [], {})).text).toContain('pending     1 event in 1 window');
  const { data, text } = await call(explain, errata, ['peak', '2026-10-29'], {});
  expect((data as Explanation).check).toEqual([]);
  expect(text).toContain('Greatest 1 shipped, and that still stands.');
  expect((await call(verify, errata, [], {})).exitCode).toBe(0);
  expect(text).not.toContain('adds up');
});
