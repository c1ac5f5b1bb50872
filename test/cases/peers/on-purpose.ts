/** Cases that come out differently here, on purpose: why, and what comes out instead of what the peer expects. */
import type { Check, Expected, Peer } from './case.ts';

interface Difference {
  readonly because: string;
  readonly instead: (expected: Expected, peer: Peer) => Expected;
}

const noStale = (checks: readonly Check[] = []) =>
  checks.map((check) => ({ ...check, ...(check.stale && { stale: [] }) }));
const nothingStale: Difference = {
  because: 'a run recomputes all that changed, so that after it nothing is stale',
  instead: ({ checks }) => ({ checks: noStale(checks) }),
};

/** After a run all values are right: those that the peer does not have yet, too. */
function allValues(right: Record<number, [start: number, value: number][]>, key: string): Difference {
  return {
    because: 'a run recomputes all that changed, so that after it all values are right',
    instead: ({ checks = [] }) => ({
      checks: noStale(checks).map((check) => {
        const values = right[check.after_step];
        return values ? { ...check, values: values.map(([start, value]) => ({ key, start, value })) } : check;
      }),
    }),
  };
}

const maxima: [number, number][] = [
  [0, 1],
  [2, 3],
  [4, 5],
  [6, 7],
  [8, 9],
  [10, 10],
];

export const onPurpose: Readonly<Record<string, Difference>> = {
  'beam-ts-02': {
    because: 'a version is the whole window, never the new rows alone: our latest is the sum of their panes',
    instead: ({ panes = [], ...rest }, { derived }) => ({
      ...rest,
      panes: panes.map((pane, place) => ({
        ...pane,
        value: panes.slice(0, place + 1).flatMap(({ value }) => value as string[]),
      })),
      final_latest: derived?.sum_of_panes_per_window ?? [],
    }),
  },
  'kafka-window-01': {
    because: 'windows before zero exist: the rows before 5 are refused by [-5, 5) too',
    instead: ({ dropped_pairs: pairs = [], ...rest }) => ({
      ...rest,
      dropped_pairs: [...pairs, ...['e1', 'e2', 'e3', 'e4', 'e5'].map((id) => [id, -5, 5] as const)],
    }),
  },
  'kafka-itg-02': {
    because: 'windows before zero exist: the first row counts in [-5, 5) too',
    instead: ({ final_latest: latest = [], ...rest }) => ({
      ...rest,
      final_latest: [...latest, { key: 'A', start: -5, end: 5, value: 1 }],
    }),
  },
  'flink-dst-04': {
    because: 'hopping windows follow no time zone: the setting is refused, and the steps are those of UTC',
    instead: () => ({}),
  },
  'flink-mux-06': {
    because: 'there is no unregistering: an idle mark takes the minimum anew',
    instead: ({ combined = [] }) => ({
      combined: combined.map((one) => (one.after_step === 2 ? { ...one, watermark: -4333 } : one)),
    }),
  },
  'spark-merge-01': {
    because:
      'our own maxima survive a restart: first has been at 190 s since step 14, second is at 195 s now',
    instead: ({ combined = [] }) => ({
      combined: combined.map((one) => (one.after_step === 16 ? { ...one, watermark: 190_000 } : one)),
    }),
  },
  'spark-dedup-06': {
    because: 'a copy is not late: it has no landing',
    instead: ({ duplicates = [], dropped_late: late = [], ...rest }) => ({
      ...rest,
      duplicates: [...duplicates, ...late],
      dropped_late: [],
    }),
  },
  'ts-refresh-01': nothingStale,
  'ts-refresh-02': nothingStale,
  'ts-refresh-03': nothingStale,
  'ts-refresh-04': nothingStale,
  'ts-refresh-05': allValues({ 1: [[0, 1]], 2: [[0, 1]] }, 'd'),
  'ts-refresh-06': {
    ...allValues({}, 'd'),
    instead: ({ checks = [] }) => {
      const last = checks.at(-1)?.values ?? [];
      return { checks: checks.map(({ after_step }) => ({ after_step, stale: [], values: last })) };
    },
  },
  // at step 4 their rows are deleted and not refreshed; ours are amended
  'ts-refresh-07': allValues({ 1: maxima, 2: maxima, 4: [...maxima.slice(0, 3), [6, 6]] }, 'm'),
  'ts-refresh-09': nothingStale,
  'ts-month-02': nothingStale,
};
