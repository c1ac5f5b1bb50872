/** The nudges of a server, on timers and a clock of the test's own. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTicks } from '../../src/schedule/ticks.ts';

let ticks: string[];
let stop: () => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-10-25T00:50:30Z') });
  ticks = [];
  stop = startTicks(() => void ticks.push(new Date().toISOString().slice(11, 19)));
});

afterEach(async () => {
  await stop();
  vi.useRealTimers();
});

test('at each full minute, and once in between', async () => {
  await vi.advanceTimersByTimeAsync(150_000);
  expect(ticks).toEqual(['00:51:00', '00:51:30', '00:52:00', '00:52:30', '00:53:00']);
});

test('where the clock of the machine steps back an hour, at least one each minute', async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  vi.setSystemTime(new Date('2026-10-24T23:51:30Z'));
  ticks.length = 0;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(ticks.length).toBeGreaterThanOrEqual(10);
});

test('ended, it nudges no more', async () => {
  await stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(ticks).toEqual([]);
});
