/** Watermarks of several source partitions (R2): how they combine, fall idle and wake, and that no cut shows (R17). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combinedAfter, historyOf, openSourcePartitions } from '../support/source-partitions.ts';

describe('idle source partition, the example of DESIGN.md section 5', () => {
  const rows = [
    ...['2 2 104', '0 3 105', '1 3 106', '0 20 140', '0 40 175', '1 41 176'],
    ...['0 60 195', '0 80 215', '1 81 216'],
  ];
  test.each([
    ['without idleness', '', [94, 94, 94, 94]],
    ['with idle_after', ', idle_after: 30 s', [165, 165, 205, 205]],
  ])('%s', async (_, idleAfter, expected) => {
    const errata = await openSourcePartitions({
      watermark: `{ strategy: bounded, delay: 10 s, max_future_skew: none${idleAfter} }`,
    });
    await errata.land(...rows);
    await errata.runAt(82);
    expect(await Promise.all([40, 41, 80, 81].map((second) => combinedAfter(errata, second)))).toEqual(
      expected,
    );
  });
});

test('a silence of exactly idle_after is idle, and a row of that very instant is judged by it', async () => {
  const errata = await openSourcePartitions({
    watermark: '{ strategy: bounded, delay: 0, max_future_skew: none, idle_after: 10 s }',
  });
  await errata.land('a 0 5', 'b 1 100', 'b 9 100', 'b 10 5');
  await errata.runAt(10.5);
  expect(await errata.rows('select landing, watermark from gold.total_late_event')).toEqual([
    { landing: 'side_output', watermark: '2026-01-01 00:01:40+00' },
  ]);
});

test('own: a row ahead of the minimum is judged by its own source partition; the minimum seals', async () => {
  const errata = await openSourcePartitions({
    watermark: '{ strategy: bounded, delay: 0, max_future_skew: none, combine: own }',
  });
  await errata.land('a 0 5', 'b 0 5', 'b 1 25', 'b 2 7', 'a 2 7', 'NULL 2 30', 'NULL 3 8');
  await errata.runAt(4);
  expect(await errata.rows('select count(*)::int as sealed from gold.total')).toEqual([{ sealed: 0 }]);
  await errata.land('a 5 26', 'NULL 6 31');
  await errata.runAt(7);
  expect(
    await errata.rows(
      'select source_partition, landing, watermark from gold.total_late_event order by ingested_at, source_partition',
    ),
  ).toEqual([
    { source_partition: 'b', landing: 'side_output', watermark: '2026-01-01 00:00:25+00' },
    { source_partition: null, landing: 'side_output', watermark: '2026-01-01 00:00:30+00' },
  ]);
  expect(
    await errata.rows('select version, rows_counted from gold.total order by window_start, version'),
  ).toEqual([
    { version: 1, rows_counted: '3' },
    { version: 2, rows_counted: '5' },
  ]);
});

test('declared from an instant on: it holds nothing back before, everything after, nothing once idle', async () => {
  const errata = await openSourcePartitions({
    watermark:
      '{ strategy: bounded, delay: 0, max_future_skew: none, idle_after: 20 s, source_partitions: { a: 2026-01-01, b: "2026-01-01T00:00:10Z" } }',
  });
  await errata.land('a 0 1', 'a 9 9', 'a 10 10', 'a 11 11', 'a 29 29', 'a 31 31');
  await errata.runAt(32);
  expect(await historyOf(errata)).toEqual(['0 1', '9 9', '29.999999 29', '31 31']);
});

test('quarantined rows are neither movement nor activity; heartbeats of a bound’s own instant are carried over', async () => {
  const errata = await openSourcePartitions({
    watermark: '{ strategy: bounded, delay: 0, max_future_skew: 50 s, idle_after: 10 s }',
  });
  await errata.land('a 0 1', 'b 0 20', 'a 8 1000', 'b 9 21', 'b 15 22');
  await errata.runAt(9);
  expect(await historyOf(errata)).toEqual(['0 1']);
  await errata.land('a 9 0', 'b 12 23');
  await errata.runAt(15);
  // a has rows at 0 and, found by the second run, at the first one's bound
  expect(await historyOf(errata)).toEqual(['0 1']);
  await errata.runAt(19);
  expect(await historyOf(errata)).toEqual(['0 1', '18.999999 23']);
});

test('a log that goes back moves nothing and is reported; a value in an idle mark is ignored', async () => {
  const errata = await openSourcePartitions({ watermark: '{ strategy: recorded, max_future_skew: none }' });
  await errata.log('a', 0, 10);
  await errata.log('b', 0, 20);
  await errata.log('a', 1, 5);
  await errata.log('a', 2, 99, true);
  const report = await errata.run({ bound: '2026-01-01 00:00:10+00' });
  expect(report.counts.log_went_back).toBe(1);
  expect(await historyOf(errata)).toEqual(['0 10', '2 20']);
});

test('hold: the bound waits for every active source partition of the log, for so long and no longer', async () => {
  const errata = await openSourcePartitions({
    watermark: '{ strategy: recorded, max_future_skew: none, hold: 60 s, source_partitions: [a, b] }',
  });
  const boundOf = async (second: number) => {
    const [row] = await errata.rows<{ bound: string }>(
      `select (timestamptz '2026-01-01 00:00:00+00' + interval '1 second' * $1::float8)::text as bound`,
      [second],
    );
    return (await errata.run({ bound: row?.bound })).bound.slice(11, 19);
  };
  await errata.log('a', 100, 90);
  expect(await boundOf(120)).toBe('00:01:00');
  await errata.log('b', 90, 80);
  expect(await boundOf(125)).toBe('00:01:30');
  await errata.log('b', 110, null, true);
  expect(await boundOf(130)).toBe('00:01:40');
  expect(await boundOf(200)).toBe('00:02:20');
});

test('however the log is cut into runs, the history is the same', { timeout: 600_000 }, async () => {
  for (const settings of [
    'strategy: bounded, delay: 2 s, idle_after: 7 s',
    'strategy: bounded, delay: 2 s, idle_after: 7 s, source_partitions: [a, never]',
    'strategy: bounded, delay: 0, combine: max',
  ]) {
    const errata = await openSourcePartitions({
      // so that nothing is sealed, and all can be forgotten
      window: '{ tumbling: 10000 days }',
      watermark: `{ max_future_skew: none, ${settings} }`,
    });
    const reset = () =>
      errata.rows(
        `truncate bronze.event, errata.source_partition, errata.source_watermark_step, errata.watermark_step, errata.ingestion_partition, gold.total_late_event;
         update errata.rollup set frontier = null, sealed_until = null, first_instant = null`,
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            source: fc.constantFrom('a', 'b', 'c'),
            pause: fc.integer({ min: 0, max: 9 }),
            lateness: fc.integer({ min: -10, max: 20 }),
          }),
          { minLength: 2, maxLength: 10 },
        ),
        async (drawn) => {
          let at = 0;
          const rows = drawn.map(({ source, pause, lateness }) => {
            at += pause;
            return { at, row: `${source} ${at} ${at - lateness}` };
          });
          const histories: string[][] = [];
          for (const cuts of [[], rows.map((row) => row.at), rows.map((row) => row.at + 0.5)]) {
            await reset();
            // Each run finds only what has arrived by its bound.
            let landed = 0;
            for (const bound of [...new Set([...cuts, at + 30])]) {
              const due = rows.filter((row) => row.at <= bound).length;
              await errata.land(...rows.slice(landed, due).map(({ row }) => row));
              landed = due;
              await errata.runAt(bound);
            }
            histories.push(await historyOf(errata));
          }
          expect(histories[1]).toEqual(histories[0]);
          expect(histories[2]).toEqual(histories[0]);
        },
      ),
      { numRuns: 6, seed: 8841, endOnFailure: true },
    );
  }
});
