/**
 * What other systems' own tests say of late data: 60 cases (test/cases/peers; its README says how they are read). Those
 * of `on-purpose.ts` come out differently here, and what is asserted is what comes out.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { combinedAfter as combinedInSeconds, openSourcePartitions } from '../support/source-partitions.ts';
import {
  type Expected,
  type Item,
  isSession,
  lineOf,
  millisecondsOf,
  type Peer,
  peers,
  peersOf,
  type Total,
} from './peers/case.ts';
import {
  arrival,
  beyondEverything,
  closeAll,
  combinedAfter,
  type History,
  landed,
  log,
  openCase,
  published,
  raisedBy,
  runAfter,
  settingsOf,
  take,
} from './peers/history.ts';
import { onPurpose } from './peers/on-purpose.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});

const sorted = <T>(items: Iterable<T>) => [...items].sort();
const linesOf = (peer: Peer, totals: readonly Total[] = []) =>
  sorted(totals.map((total) => lineOf(peer, total)));

/** What has to come out here. A difference on purpose must be one. */
function expectedOf(peer: Peer): Expected {
  const difference = onPurpose[peer.id];
  if (!difference) return peer.expected;
  const instead = difference.instead(peer.expected, peer);
  expect(instead).not.toEqual(peer.expected);
  return instead;
}

test('60 cases, 16 of which differ on purpose', () => {
  const ids = new Set(peers.map(({ id }) => id));
  expect(ids.size).toBe(60);
  expect(Object.keys(onPurpose).filter((id) => ids.has(id))).toHaveLength(16);
  const kinds = new Set(peers.map(({ kind }) => kind));
  expect(sorted(kinds)).toEqual(
    sorted([
      ...['lateness', 'refresh', 'watermark_merge', 'watermark_from_rows', 'idleness', 'dedup'],
      ...['assignment', 'assignment_local', 'session_merge', 'bucketing', 'bucketing_local'],
    ]),
  );
});

/** A run after each step: what it publishes, `line timing after_step`. */
async function panesByStep(peer: Peer): Promise<string[]> {
  const history = await openCase(database, peer, { suffix: '_stepwise' });
  const panes: string[] = [];
  for (const [at, step] of (peer.steps ?? []).entries()) {
    await take(history, step, at);
    await runAfter(history, at);
    for (const { line, version } of (await published(history)).slice(panes.length))
      panes.push(`${line} ${version === 1 ? 'on-time' : 'late'} ${at}`);
  }
  return panes;
}

/** All steps, then one run. */
async function played(peer: Peer, ...reading: [Parameters<typeof openCase>[2]?]): Promise<History> {
  const history = await openCase(database, peer, ...reading);
  for (const [at, step] of (peer.steps ?? []).entries()) await take(history, step, at);
  await runAfter(history, stepsOf(peer));
  return history;
}
const stepsOf = ({ steps = [] }: Peer) => steps.length;

/** The rows that some window counts, once everything is closed. */
async function countedRows(history: History): Promise<Set<string>> {
  return new Set((await published(history, 'latest')).flatMap(({ names }) => names));
}

/** The watermark passes the end of a window with this step, and not before. */
async function expectPassed(history: History, { end = 0, after_step: at }: Total & { after_step: number }) {
  const passed = millisecondsOf(history.peer, end);
  expect(await combinedAfter(history, at)).toBeGreaterThanOrEqual(passed);
  expect((await combinedAfter(history, at - 1)) ?? Number.NEGATIVE_INFINITY).toBeLessThan(passed);
}

describe('lateness', () => {
  test.each(peersOf('lateness'))('$id: $title', async (peer) => {
    const expected = expectedOf(peer);
    const history = await played(peer);
    const { panes } = expected;
    if (panes) {
      const onTime = panes.filter(({ timing }) => timing === 'on-time');
      expect(sorted((await published(history, 'sealed')).map(({ line }) => line))).toEqual(
        linesOf(peer, onTime),
      );
      expect(sorted((await published(history, 'latest')).map(({ line }) => line))).toEqual(
        linesOf(peer, expected.final_latest),
      );
      for (const pane of onTime) await expectPassed(history, pane);
      const late = panes.filter(({ timing }) => timing === 'late');
      // a session may have grown since
      const place = isSession(peer) ? () => '' : ({ start, end }: Total) => ` [${start}, ${end})`;
      expect(
        sorted((await landed(history, 'late_firing')).map((row) => (isSession(peer) ? row.id : row.place))),
      ).toEqual(sorted(late.map((pane) => `e${pane.after_step}${place(pane)}`)));
      // one run publishes all late firings of a window as one version: a run after each step shows each of them
      if (late.length > 0)
        expect(sorted(await panesByStep(peer))).toEqual(
          sorted(panes.map((pane) => `${lineOf(peer, pane)} ${pane.timing} ${pane.after_step}`)),
        );
    }
    const refused = await landed(history, 'side_output');
    if (expected.dropped_pairs)
      expect(sorted(refused.map(({ place }) => place))).toEqual(
        sorted(expected.dropped_pairs.map(([id, start, end]) => `${id} [${start}, ${end})`)),
      );
    await closeAll(history, stepsOf(peer) + 1);
    if (!panes && expected.final_latest)
      expect(sorted((await published(history, 'latest')).map(({ line }) => line))).toEqual(
        linesOf(peer, expected.final_latest),
      );
    const counted = await countedRows(history);
    expect(sorted(new Set(refused.map(({ id }) => id).filter((id) => !counted.has(id))))).toEqual(
      sorted(expected.side_output ?? []),
    );
  });

  test.each(peersOf('lateness').filter(({ expected }) => expected.final_emissions))(
    '$id: final results, with the grace as the delay',
    async (peer) => {
      const history = await played(peer, {
        suffix: '_final',
        watermark: `{ strategy: bounded, delay: ${peer.allowed_lateness} ms, max_future_skew: none }`,
        lateness: '0',
      });
      const { final_emissions: emissions = [], side_output: refused } = peer.expected;
      expect(sorted((await published(history, 'sealed')).map(({ line }) => line))).toEqual(
        linesOf(peer, emissions),
      );
      for (const emission of emissions) await expectPassed(history, emission);
      expect(sorted((await landed(history, 'side_output')).map(({ id }) => id))).toEqual(refused);
    },
  );
});

describe('copies', () => {
  test.each(peersOf('dedup'))('$id: $title', async (peer) => {
    const expected = expectedOf(peer);
    const history = await played(peer);
    if (expected.panes)
      expect(sorted((await published(history)).map(({ line }) => line))).toEqual(
        linesOf(peer, expected.panes),
      );
    await closeAll(history, stepsOf(peer) + 1);
    const late = new Set((await landed(history, 'side_output')).map(({ id }) => id));
    expect(sorted(late)).toEqual(sorted(expected.dropped_late ?? []));
    expect(sorted(await countedRows(history))).toEqual(sorted(expected.accepted ?? []));
    const [copies] = await history.errata.rows(
      `select sum(copies)::int as n from errata.${history.errata.rollup.settings.name}_copy`,
    );
    expect(Number(copies?.n)).toBe(expected.duplicates?.length);
  });
});

describe('combined watermarks', () => {
  test.each(peersOf('watermark_merge', 'watermark_from_rows'))('$id: $title', async (peer) => {
    const { combined = [], final_watermark: last } = expectedOf(peer);
    const history = await openCase(database, peer);
    // an initial 0 is none
    const none = peer.kind === 'watermark_merge' ? null : 0;
    const raised = (value: number | null) => (value === null ? null : value + raisedBy(peer));
    const steps = peer.steps ?? [];
    const allIdle = new Map<number, boolean>();
    for (const [at, step] of steps.entries()) {
      await take(history, step, at);
      const isSaid = combined.some((one) => one.after_step === at && one.all_idle !== undefined);
      // what is known between runs is what the database holds: each run is a restart
      if (!isSaid && !step.restart && at < steps.length - 1) continue;
      await runAfter(history, at);
      const [state] = await history.errata.rows<{ idle: boolean }>(
        'select not bool_or(is_active) as idle from errata.source_partition where rollup_id = $1',
        [history.errata.rollup.id],
      );
      if (isSaid) allIdle.set(at, state?.idle ?? false);
    }
    const seen: { after_step: number; watermark: number | null; all_idle?: boolean | undefined }[] = [];
    for (const at of steps.keys())
      seen.push({
        after_step: at,
        watermark: (await combinedAfter(history, at)) ?? none,
        ...(allIdle.has(at) && { all_idle: allIdle.get(at) }),
      });
    if (last !== undefined) expect(seen.at(-1)?.watermark).toBe(raised(last));
    else expect(seen).toEqual(combined.map((one) => ({ ...one, watermark: raised(one.watermark) })));
  });

  test.each(peersOf('idleness'))('$id: $title', async (peer) => {
    const history = await openCase(database, peer);
    // Their countdown begins at a check, ours at a row: the first check is a row here.
    await take(history, { event: { id: 'first', partition: 'a', event_time: 0 } }, 0);
    const bounds = [0.5, 123, 123.5, 245.5, 246];
    const idle: { after_step: number; idle: boolean }[] = [];
    for (const [at, { row }] of (peer.steps ?? []).entries()) {
      if (row !== undefined) {
        await take(history, { event: { id: `e${at}`, partition: 'a', event_time: row } }, row);
        continue;
      }
      // a bound is past the rows of its check's instant, and the last before a new timeout is full says most
      await history.errata.run({ bound: arrival(bounds[idle.length] ?? 0) });
      const [state] = await history.errata.rows<{ idle: boolean }>(
        'select not is_active as idle from errata.source_partition where rollup_id = $1',
        [history.errata.rollup.id],
      );
      idle.push({ after_step: at, idle: state?.idle ?? false });
    }
    expect(idle).toEqual(peer.expected.idle);
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
    expect(await Promise.all([1, 2, 3, 5, 6].map((at) => combinedInSeconds(byMark, at)))).toEqual([
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
    expect(await Promise.all([0, 10, 15, 17].map((at) => combinedInSeconds(bySilence, at)))).toEqual([
      3, 7, 7, 10,
    ]);
  });
});

describe('windows', () => {
  /** The windows of each item, from the windows that its row is counted in. */
  async function windowsOf(peer: Peer) {
    const history = await openCase(database, peer);
    const items = peer.items ?? [];
    for (const [at, { event_time }] of items.entries())
      await take(history, { event: { id: `e${at}`, key: 'k', event_time } }, at);
    await closeAll(history, items.length);
    const all = (await published(history)).sort((a, b) => a.start - b.start);
    return items.map((_, at) => all.filter(({ names }) => names.includes(`e${at}`)));
  }

  /** What an item says of its only or earliest window. */
  function saidOf(item: Item) {
    const [start, end] = [item.start ?? item.derived_start_utc, item.end ?? item.derived_end_utc];
    const local = (text: string) => `${text}:00`.slice(0, 19);
    return {
      ...(start && { start: Date.parse(start) }),
      ...(end && { end: Date.parse(end) }),
      ...(item.local_start && { localStart: local(item.local_start) }),
      ...(item.local_end && { localEnd: local(item.local_end) }),
    };
  }

  const cases = peersOf('assignment', 'assignment_local', 'bucketing', 'bucketing_local');
  test.each(cases.filter(({ id }) => id !== 'flink-dst-04'))('$id: $title', async (peer) => {
    const found = await windowsOf(peer);
    for (const [at, item] of (peer.items ?? []).entries()) {
      const windows = found[at] ?? [];
      if (item.windows) expect(windows.map(({ start, end }) => [start, end])).toEqual(item.windows);
      else {
        expect(windows).toHaveLength(1);
        expect(windows[0]).toMatchObject(saidOf(item));
      }
    }
  });

  test('flink-dst-04: hopping windows follow no time zone', async () => {
    const peer = peers.find(({ id }) => id === 'flink-dst-04') as Peer;
    const { size = 0, slide = 0, time_zone: zone } = peer.window ?? {};
    const { yaml } = settingsOf(peer, {
      window: `{ hopping: 4 hours, every: 1 hour, time_zone: ${zone} }`,
    });
    expect(() => parseSettings(yaml, 'errata.yaml', {})).toThrow(
      expect.objectContaining({ detail: expect.stringContaining('time_zone: does not go with hopping') }),
    );
    const found = await windowsOf(peer);
    for (const [at, { event_time: time }] of (peer.items ?? []).entries()) {
      const earliest = Math.floor(millisecondsOf(peer, time) / slide) * slide - size + slide;
      expect(found[at]?.[0]).toMatchObject({ start: earliest, end: earliest + size });
    }
    expect(found.map(([earliest]) => earliest?.start)).not.toEqual(
      peer.items?.map((item) => saidOf(item).start),
    );
  });

  test.each(peersOf('session_merge'))('$id: $title', async (peer) => {
    const history = await openCase(database, peer);
    const times = peer.rows ?? peer.proto_windows?.map(([start]) => start) ?? [];
    for (const [at, time] of times.entries())
      await take(history, { event: { id: `e${at}`, key: 'k', event_time: time } }, at);
    await closeAll(history, times.length);
    expect((await published(history)).map(({ start, end }) => [start, end]).sort()).toEqual(
      peer.expected.merged,
    );
  });
});

describe('refreshes', () => {
  /** What plain loops make of the rows that are there: the latest values, by window start. Not for days of a zone. */
  async function truthOf({ peer, errata, table }: History): Promise<string[]> {
    const rows = await errata.rows<{ at: string; key: string; value: string }>(
      `select (extract(epoch from event_time) * 1000000)::bigint::text as at, key, value from ${table}`,
    );
    const startOf = (at: number) => {
      const day = new Date(at);
      if (peer.window?.width?.months) return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1);
      const size = millisecondsOf(peer, peer.window?.size ?? 0);
      return Math.floor(at / size) * size;
    };
    const windows = new Map<string, number[]>();
    for (const { at, key, value } of rows) {
      const place = `${key} [${startOf(Math.floor(Number(at) / 1000))},`;
      windows.set(place, [...(windows.get(place) ?? []), Number(value)]);
    }
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
    const measure = {
      count: (values: readonly number[]) => values.length,
      max: (values: readonly number[]) => Math.max(...values),
      avg: (values: readonly number[]) => sum(values) / values.length,
      sum,
      collect: sum,
    }[peer.aggregate ?? 'count'];
    return sorted([...windows].map(([place, values]) => `${place} ${measure(values)}`));
  }

  test.each(peersOf('refresh'))('$id: $title', async (peer) => {
    const expected = expectedOf(peer);
    const history = await openCase(database, peer);
    await log(history, -1, { watermark: beyondEverything });
    let checks = 0;
    for (const [at, step] of (peer.steps ?? []).entries()) {
      await take(history, step, at);
      if (!step.refresh && !step.delete_rows) continue;
      // without their ends, which a check does not say
      const latest = sorted(
        (await published(history, 'latest')).map(({ line }) => line.replace(/, -?\d+\)/, ',')),
      );
      const check = expected.checks?.find(({ after_step }) => after_step === at);
      if (check) checks++;
      if (check?.values)
        expect(latest).toEqual(
          sorted(
            check.values.map(({ key, start, value }) => `${key} [${millisecondsOf(peer, start)}, ${value}`),
          ),
        );
      if (peer.window?.time_zone === 'Europe/Berlin') continue;
      const truth = await truthOf(history);
      expect(truth.filter((line) => !latest.includes(line))).toEqual(check?.stale ?? []);
      expect(latest).toEqual(truth);
    }
    expect(checks).toBe(expected.checks?.length);
  });
});
