/** The one line that `run` leaves on stdout, however many rollups there were. */
import { amount, counted } from './amount.ts';
import { outcomeOf, type RollupResult } from './rollup-result.ts';

export type Counts = Readonly<Record<string, string>>;

/** Counts added up over all rollups that came through; whole numbers of any size, as text. */
export function totals(results: readonly RollupResult[]): Counts {
  const sums = new Map<string, bigint>();
  for (const { report } of results) {
    for (const [name, count] of Object.entries(report?.counts ?? {}))
      sums.set(name, (sums.get(name) ?? 0n) + BigInt(count));
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, String(sum)]));
}

/** `daily_orders: sealed 31 keyed windows, corrected 2, 1 event newly pending, nothing blocked` */
export function summaryLine(results: readonly RollupResult[]): string {
  const through = results.filter(({ report }) => report);
  const locked = results.filter((result) => outcomeOf(result) === 'locked');
  const paused = results.filter((result) => outcomeOf(result) === 'paused');
  const failed = results.filter((result) => outcomeOf(result) === 'failed');
  const contradicted = through.flatMap(({ rollup, report }) =>
    (report?.contradictions ?? []).map(({ text }) => (results.length === 1 ? text : `${rollup}: ${text}`)),
  );
  const parts = [
    ...(through.length > 0 ? [`${nameOf(through)}: ${countsText(totals(through))}`] : []),
    ...contradicted,
    ...failed.map(({ rollup, failure }) => `${rollup} failed: ${failure?.message.split('\n')[0]}`),
    ...paused.map(({ rollup, failure }) => `${rollup} is ${failure?.detail}`),
    ...(locked.length > 0
      ? [`another run holds ${locked.map(({ rollup }) => rollup).join(', ')}: nothing done there`]
      : []),
  ];
  return parts.join('; ');
}

/** `sealed 31 keyed windows, corrected 2, 1 event newly pending, nothing blocked`; what is not there is left out, except the last. */
export function countsText(counts: Counts, words: Words = did): string {
  const of = (name: string) => counts[name] ?? '0';
  const has = (name: string) => of(name) !== '0';
  const parts = [
    `${words.sealed} ${counted(of('windows_sealed'), 'keyed window')}`,
    `${words.corrected} ${amount(of('windows_corrected'))}`,
    ...(has('windows_proposed') ? [`${words.proposed} ${amount(of('windows_proposed'))}`] : []),
    ...(has('windows_held') ? [`${amount(of('windows_held'))} held: their period is closed`] : []),
    ...(has('proposals_waiting')
      ? [`${counted(of('proposals_waiting'), 'earlier proposal')} awaiting a person`]
      : []),
    `${has('events_pending') ? counted(of('events_pending'), 'event') : 'no event'} newly pending`,
    ...(has('quarantined') ? [`${amount(of('quarantined'))} quarantined`] : []),
    ...(has('log_went_back') ? [`the log went back ${amount(of('log_went_back'))} times`] : []),
    ...(has('log_came_behind')
      ? [
          `${counted(of('log_came_behind'), 'entry', 'entries')} of the log came behind the frontier and moved nothing`,
        ]
      : []),
    ...(has('stream_dropped')
      ? [
          `the stream dropped ${counted(of('stream_dropped'), 'row')}, the side output shows ${amount(of('stream_dropped_shown'))}`,
        ]
      : []),
    ...(has('stream_ahead')
      ? [`${amount(of('stream_ahead'))} of the stream's totals and refusals too far ahead to seal anything`]
      : []),
    ...(has('refused_waiting')
      ? [`${counted(of('refused_waiting'), 'refusal')} of the stream without a row in bronze so far`]
      : []),
    ...(has('refused_judged_otherwise')
      ? [`${counted(of('refused_judged_otherwise'), 'refusal')} of rows that were judged otherwise before`]
      : []),
    ...(has('contradictions')
      ? [
          counted(
            of('contradictions'),
            'contradiction between the settings and the stream',
            'contradictions between the settings and the stream',
          ),
        ]
      : []),
    ...(has('conflicts') ? [counted(of('conflicts'), 'conflict')] : []),
    ...(has('sealing_blocked')
      ? ['sealing blocked: an ingestion partition with rows of the next windows is gone']
      : []),
    ...(has('windows_failing')
      ? [`${counted(of('windows_failing'), 'keyed window')} failing: a measure cannot be computed`]
      : []),
    ...(has('contributions_failing')
      ? [`${counted(of('contributions_failing'), 'late event')} whose own contribution cannot be computed`]
      : []),
    has('windows_blocked') ? `${counted(of('windows_blocked'), 'keyed window')} blocked` : 'nothing blocked',
  ];
  return parts.join(', ');
}

export interface Words {
  readonly sealed: string;
  readonly corrected: string;
  readonly proposed: string;
}

const did: Words = { sealed: 'sealed', corrected: 'corrected', proposed: 'proposed' };

function nameOf(results: readonly RollupResult[]): string {
  return results.length === 1 ? (results[0]?.rollup ?? '') : `${results.length} rollups`;
}
