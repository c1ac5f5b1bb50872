/** A rollup's status for a person who was woken up: what is wrong comes first, each with the command to run next. */
import type { RollupSettings } from '../../config/settings.ts';
import { amount, counted } from '../../output/amount.ts';
import { countsText } from '../../output/summary.ts';
import { instantText, shortInstant, spanText } from '../instant-text.ts';
import { concernsOf } from './concerns.ts';
import type {
  LastRun,
  RollupStatus,
  ScheduleStatus,
  SourcePartition,
  Undelivered,
  WaitingEvents,
} from './status.ts';

export function statusText(status: RollupStatus, settings: RollupSettings): string {
  const concerns = concernsOf(status, settings);
  const head = concerns.length === 0 ? 'all is well' : concerns.map(({ word }) => word).join(', ');
  const facts: [string, string][] = [
    ['last run', status.last_run ? runText(status.last_run) : 'never'],
    ...errorFacts(status),
    ...(status.schedule ? [['schedule', scheduleText(status.schedule)] as [string, string]] : []),
    ['frontier', reachText(status.frontier, status.frontier_lag_seconds, 'nothing is examined yet')],
    ['watermark', reachText(status.sealed_until, status.watermark_lag_seconds, 'nothing is sealed yet')],
    ...sourceFacts(status),
    ['queue', queueText(status)],
    ['pending', waitingText(status.waiting, 'pending', settings)],
    ...(status.waiting.some(({ state }) => state === 'held')
      ? [['held', waitingText(status.waiting, 'held', settings)] as [string, string]]
      : []),
    ['quarantine', counted(status.quarantined, 'row')],
    ...(settings.watermark.refused ? [['refusals', refusalsText(status)] as [string, string]] : []),
    ...(settings.notices !== undefined || status.notices.undelivered !== '0'
      ? [['notices', noticesText(status.notices)] as [string, string]]
      : []),
    ['bronze', completeText(status)],
    ...(status.gone.length > 0 ? [['gone', goneText(status.gone)] as [string, string]] : []),
    ['settled', settledText(status.settled_until)],
  ];
  return [
    `${status.rollup}: ${head}`,
    ...concerns.flatMap(({ text, next }) => [`  ! ${text}`, ...(next ? [`      ${next}`] : [])]),
    ...facts.map(([name, text]) => `  ${name.padEnd(12)}${text}`),
  ].join('\n');
}

function runText(run: LastRun): string {
  const when = `${shortInstant(run.finished_at)}${ageText(run.age_seconds)}`;
  const who = run.actor ? ` by ${run.actor}` : '';
  const what = run.outcome === 'failed' ? 'failed' : countsText(textCounts(run.counts));
  return `${when}: ${run.verb} ${run.run_id}${who}: ${what}`;
}

function errorFacts({
  last_error: error,
  last_success: success,
  last_run: last,
}: RollupStatus): [string, string][] {
  const facts: [string, string][] = [];
  if (last?.outcome === 'failed') facts.push(['last good', success ? runText(success) : 'never']);
  if (error && last?.outcome !== 'failed')
    facts.push([
      'last error',
      `${shortInstant(error.finished_at)}${ageText(error.age_seconds)}: ${error.failure?.message}`,
    ]);
  return facts;
}

function scheduleText({ cron, time_zone: zone, due_at: due, missed }: ScheduleStatus): string {
  const answered =
    due === null
      ? 'no run has answered it yet'
      : `answered until ${shortInstant(due)}${missed === null || missed === '0' ? '' : `, ${counted(missed, 'moment')} before it missed`}`;
  return `${cron} (${zone}), ${answered}`;
}

function queueText({ queue }: RollupStatus): string {
  const parts = queue
    .filter(({ waits_for: waitsFor }) => waitsFor === 'run' || waitsFor === 'seal')
    .map(
      ({ waits_for: waitsFor, keyed_windows: windows, age_seconds: age }) =>
        `${counted(windows, 'keyed window')} ${waitsFor === 'run' ? 'for the next run' : 'until sealed'}, the oldest for ${spanText(age)}`,
    );
  return parts.length === 0 ? 'empty' : parts.join('; ');
}

function waitingText(
  waiting: readonly WaitingEvents[],
  state: 'pending' | 'held',
  { measures: declared }: RollupSettings,
): string {
  const order = declared.map(({ name }) => name);
  const parts = waiting.filter((part) => part.state === state);
  if (parts.length === 0) return 'no event';
  return parts
    .map(({ events, measures, windows, released, is_proposed: isProposed }) => {
      const sums = order
        .filter((name) => measures[name] !== null && measures[name] !== undefined)
        .map((name) => `${name} ${amount(measures[name])}`);
      const whom = isProposed ? ', proposed' : released ? ', released and waiting for a run' : '';
      return `${[counted(events, 'event'), ...sums].join(', ')} in ${counted(windows, 'window')}${whom}`;
    })
    .join('; ');
}

function noticesText({
  undelivered: left,
  oldest_age_seconds: age,
  last_error: error,
  attempts,
}: Undelivered): string {
  if (left === '0') return 'all delivered';
  const tried = error === null ? '' : `; tried ${counted(String(attempts), 'time')}: ${error}`;
  return `${counted(left, 'notice')} undelivered, the oldest for ${spanText(age ?? '0')}${tried}`;
}

/** Most source partitions with a line each; --json has all. */
const sourcesShown = 20;

function sourceFacts({ source_partitions: sources, drops }: RollupStatus): [string, string][] {
  const rest = sources.length - sourcesShown;
  const lines = [
    ...sources.slice(0, sourcesShown).map(sourceText),
    ...(rest > 0 ? [`and ${amount(String(rest))} more; --json has them`] : []),
  ];
  const dropped =
    drops.dropped === null || drops.dropped === '0'
      ? []
      : [`the stream dropped ${counted(drops.dropped, 'row')}, the side output shows ${amount(drops.shown)}`];
  return [
    ...lines.map((line, place): [string, string] => [place === 0 ? 'sources' : '', line]),
    ...dropped.map((line): [string, string] => ['drops', line]),
  ];
}

function stateText({ state, declared_since: since }: SourcePartition): string {
  if (state === 'silent')
    return `silent since ${shortInstant(since)}: it holds the minimum back until it is idle`;
  return state === 'expected' ? `expected from ${shortInstant(since)} on` : state;
}

function sourceText(source: SourcePartition): string {
  const { source_partition: name, watermark, last_activity: last } = source;
  const shown = name === null ? 'NULL' : name === '' ? "''" : name;
  const parts = [
    stateText(source),
    ...(watermark === null ? [] : [`watermark ${shortInstant(watermark)}`]),
    ...(last === null ? [] : [`last heard of ${shortInstant(last)}${ageText(source.age_seconds)}`]),
    ...(source.went_back === '0' ? [] : [`went back ${counted(source.went_back, 'time')}`]),
    ...(source.came_behind === '0'
      ? []
      : [`${counted(source.came_behind, 'entry', 'entries')} came behind the frontier`]),
    ...(source.dropped === null || source.dropped === '0'
      ? []
      : [`dropped ${counted(source.dropped, 'row')}`]),
  ];
  return `${shown}: ${parts.join(', ')}`;
}

/** What the stream wrote of its refused rows, as far as bronze does not bear it out. */
function refusalsText(status: RollupStatus): string {
  const { refused_waiting: waiting, refused_waiting_since: since, refused_judged_otherwise: other } = status;
  const parts = [
    ...(waiting === '0'
      ? []
      : [
          `${counted(waiting, 'entry', 'entries')} without a row in bronze, the first since ${shortInstant(since)}`,
        ]),
    ...(other === '0'
      ? []
      : [`${counted(other, 'entry', 'entries')} of rows that had been judged otherwise before`]),
  ];
  return parts.length === 0 ? 'each has its row in bronze' : parts.join('; ');
}

const sources: Readonly<Record<Exclude<RollupStatus['complete_from_source'], 'empty'>, string>> = {
  setting: 'as bronze.complete_from says',
  partition: 'the lower bound of the earliest ingestion partition',
  first_ingestion: 'the start of the day of the earliest ingestion',
};

function completeText({ complete_from: from, complete_from_source: source }: RollupStatus): string {
  if (source === 'empty') return 'complete from its first row on: it was empty when the rollup was migrated';
  return `complete from ${instantText(from)}: ${sources[source]}`;
}

function goneText(gone: readonly string[]): string {
  const more = gone.length > 5 ? ` and ${gone.length - 5} more` : '';
  return `${gone.slice(0, 5).join(', ')}${more}: read once, and not there any more; windows with rows in them are never recomputed`;
}

function settledText(until: string): string {
  if (until === '-infinity') return 'as_of() answers after the first run';
  return `as_of() answers until ${instantText(until)}`;
}

function reachText(instant: string | null, lag: string | null, none: string): string {
  if (instant === null) return none;
  const behind = lag?.startsWith('-') ? 'ahead of' : 'behind';
  return `${instantText(instant)}${lag === null ? '' : `, ${spanText(lag.replace(/^-/, ''))} ${behind} the clock`}`;
}

function ageText(seconds: string | null): string {
  return seconds === null ? '' : ` (${spanText(seconds.replace(/^-/, ''))} ago)`;
}

function textCounts(counts: LastRun['counts']): Record<string, string> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
}
