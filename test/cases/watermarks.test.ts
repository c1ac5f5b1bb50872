/**
 * What peers say of watermarks of several source partitions (test/cases/peers/watermarks.jsonl: facts from their own
 * tests). A step is an arrival instant, a step's watermark an entry of the log; a unit of theirs is a second here.
 * Numbers of a peer whose watermark t means "no more rows at or before t" (`inclusive`) are raised by one unit, and so
 * is its idle timeout: "more than" there, "at least" here.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { combinedAfter, openSourcePartitions } from '../support/source-partitions.ts';

interface Step {
  readonly partition?: string | number;
  readonly watermark?: number;
  readonly idle?: string | number;
  readonly active?: string | number;
  readonly unregister?: string | number;
  readonly event?: { event_time: number; partition: number };
  readonly batch?: { partition: string; event_times: number[] }[];
  readonly check?: number;
  readonly row?: number;
  readonly restart?: boolean;
}

interface Case {
  readonly id: string;
  readonly kind: 'watermark_merge' | 'watermark_from_rows' | 'idleness';
  readonly watermark: {
    readonly policy?: 'min' | 'max';
    readonly delay?: number;
    readonly inputs?: (string | number | { partition: string; delay: number })[];
    readonly idle_timeout?: number;
    readonly convention?: string;
  };
  readonly steps: readonly Step[];
  readonly expected: {
    readonly combined: { after_step: number; watermark: number | null }[];
    readonly final_watermark: number;
    readonly idle: { after_step: number; idle: boolean }[];
  };
}

const cases = new Map(
  readFileSync(new URL('peers/watermarks.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case)
    .map((one) => [one.id, one]),
);
const found = (id: string) => cases.get(id) as Case;

/** What we do instead, and why. */
const onPurpose: Record<string, { after: Record<number, number>; because: string }> = {
  'flink-mux-06': {
    after: { 2: -4332 },
    because: 'there is no unregistering: an idle mark takes the minimum anew',
  },
  'spark-merge-01': {
    // second is at 195 s since step 16, and first has been at 190 s since step 14
    after: { 16: 190_000 },
    because: 'our own watermarks survive a restart',
  },
};

test.each(['flink-valve-02', 'flink-valve-05', 'flink-valve-07', 'flink-valve-11', 'flink-mux-06'])(
  '%s: entries of a log',
  async (id) => {
    const { watermark, steps, expected } = found(id);
    const inclusive = watermark.convention === 'inclusive' ? 1 : 0;
    const errata = await openSourcePartitions({
      watermark: `{ strategy: recorded, max_future_skew: none, source_partitions: [${watermark.inputs?.join(', ')}] }`,
    });
    for (const [at, step] of steps.entries()) {
      const name = String(step.partition ?? step.idle ?? step.active ?? step.unregister);
      const isMark = step.idle !== undefined || step.unregister !== undefined;
      const value = step.watermark === undefined ? null : step.watermark + inclusive;
      await errata.log(name, at, value, isMark);
    }
    await errata.runAt(1000);
    const combined = await Promise.all(steps.map((_, at) => combinedAfter(errata, at)));
    const differs = onPurpose[id]?.after ?? {};
    for (const { after_step: at, watermark: value } of expected.combined)
      expect(`${at}: ${combined[at]}`).toBe(
        `${at}: ${differs[at] ?? (value === null ? null : value + inclusive)}`,
      );
  },
);

test('flink-bounded-02: one row, less the delay', async () => {
  const { watermark, steps, expected } = found('flink-bounded-02');
  const errata = await openSourcePartitions({
    watermark: `{ strategy: bounded, delay: ${watermark.delay} s, max_future_skew: none }`,
  });
  await errata.land(...steps.map(({ event }, at) => `${event?.partition} ${at} ${event?.event_time}`));
  await errata.runAt(1000);
  expect(await combinedAfter(errata, 0)).toBe(expected.final_watermark + 1);
});

test.each(['spark-merge-01', 'spark-merge-04'])('%s: rows of two streams', async (id) => {
  const { watermark, steps, expected } = found(id);
  const inputs = watermark.inputs as { partition: string; delay: number }[];
  // Each stream has a delay of its own there: it is taken off the event times before they land here.
  const delayOf = (name: string) => inputs.find(({ partition }) => partition === name)?.delay ?? 0;
  const errata = await openSourcePartitions({
    watermark: `{ strategy: bounded, delay: 0, max_future_skew: none, combine: ${watermark.policy}, source_partitions: [first, second] }`,
  });
  for (const [at, step] of steps.entries()) {
    for (const { partition, event_times: times } of step.batch ?? [])
      await errata.land(...times.map((time) => `${partition} ${at} ${time - delayOf(partition)}`));
    await errata.runAt(at + 0.5);
  }
  const differs = onPurpose[id]?.after ?? {};
  // an initial 0 is none
  for (const { after_step: at, watermark: value } of expected.combined)
    expect(`${at}: ${(await combinedAfter(errata, at)) ?? 0}`).toBe(`${at}: ${differs[at] ?? value}`);
});

test('flink-idle-04: idle, a row, idle again after a full new timeout', async () => {
  const { watermark, steps, expected } = found('flink-idle-04');
  const errata = await openSourcePartitions({
    watermark: `{ strategy: bounded, delay: 0, max_future_skew: none, idle_after: ${(watermark.idle_timeout ?? 0) + 1} s }`,
  });
  // Their countdown begins at a check, ours at a row; a bound is past the rows of its check's instant.
  await errata.land('a 0 0', ...steps.flatMap(({ row }) => (row === undefined ? [] : [`a ${row} ${row}`])));
  const idle: boolean[] = [];
  for (const bound of [0.5, 123, 123.5, 245.5, 246]) {
    await errata.runAt(bound);
    const [state] = await errata.rows<{ idle: boolean }>(
      'select not is_active as idle from errata.source_partition',
    );
    idle.push(state?.idle ?? false);
  }
  expect(idle).toEqual(expected.idle.map(({ idle: is }) => is));
});

test('three inputs: one that wakes while behind does not count at once', async () => {
  const byMark = await openSourcePartitions({
    watermark: '{ strategy: recorded, max_future_skew: none, source_partitions: [0, 1, 2] }',
  });
  await byMark.log('0', 0, 10);
  await byMark.log('1', 1, 7);
  await byMark.log('2', 2, 3);
  await byMark.log('2', 3, null, true);
  await byMark.log('2', 4, null);
  await byMark.log('2', 5, 5);
  await byMark.log('1', 6, 12);
  await byMark.runAt(100);
  expect(await Promise.all([1, 2, 3, 5, 6].map((at) => combinedAfter(byMark, at)))).toEqual([
    null,
    3,
    7,
    7,
    10,
  ]);

  const bySilence = await openSourcePartitions({
    watermark: '{ strategy: bounded, delay: 0, max_future_skew: none, idle_after: 10 s }',
  });
  await bySilence.land('0 0 10', '1 0 7', '2 0 3', '0 8 10', '1 8 7', '2 15 5', '1 17 12');
  await bySilence.runAt(17.5);
  expect(await Promise.all([0, 10, 15, 17].map((at) => combinedAfter(bySilence, at)))).toEqual([3, 7, 7, 10]);
});
