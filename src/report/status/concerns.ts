/** What about a rollup needs a person, each with the command to run next. */
import type { RollupSettings } from '../../config/settings.ts';
import { counted } from '../../output/amount.ts';
import { pausedText } from '../../publication/acts.ts';
import { shortInstant, spanText } from '../instant-text.ts';
import type { LastRun, RollupStatus } from './status.ts';

export interface Concern {
  /** For the head line: `2 blocked`. */
  readonly word: string;
  readonly text: string;
  /** A command, or what to do; empty where the text says it. */
  readonly next: string;
  /** Exit code that it asks for; 3, a person, unless it says otherwise. */
  readonly exitCode: 0 | 1 | 3;
}

export function concernsOf(status: RollupStatus, { name, gold }: RollupSettings): Concern[] {
  const concerns: Concern[] = [];
  const { last_run: last } = status;
  if (status.paused)
    concerns.push({
      word: 'paused',
      text: `${pausedText(status.paused)}; no run does anything until it is resumed`,
      next: `errata resume ${name} --actor NAME --reason TEXT`,
      exitCode: 3,
    });
  if (last === null)
    concerns.push({
      word: 'never run',
      text: 'no run has been made yet',
      next: `errata run ${name}`,
      exitCode: 0,
    });
  if (last?.outcome === 'failed')
    concerns.push({
      word: 'the last run failed',
      text: `run ${last.run_id} failed ${shortInstant(last.finished_at)}: ${failureText(last.failure)}`,
      next: `errata check; then errata run ${name}`,
      exitCode: 1,
    });
  const { failures, next_attempt_at: next, error } = status.schedule ?? {};
  if (failures)
    concerns.push({
      word: 'backs off',
      text: `${counted(String(failures), 'scheduled run')} failed in succession, the next is not before ${shortInstant(next ?? null)}: ${error}`,
      next: `errata check; then errata run ${name}`,
      exitCode: 1,
    });
  if (status.is_changed)
    concerns.push({
      word: 'the settings have changed',
      text: 'the settings have changed since they were migrated, so no run begins',
      next: 'errata migrate',
      exitCode: 3,
    });
  for (const fault of status.faults)
    concerns.push({ word: 'bronze does not fit', text: fault, next: 'errata check', exitCode: 3 });
  for (const {
    waits_for: waitsFor,
    keyed_windows: windows,
    reason,
    first_window_start: first,
    tries,
  } of status.queue) {
    if (waitsFor === 'blocked')
      concerns.push({
        word: `${windows} blocked`,
        text: `${counted(windows, 'keyed window')} blocked, the first at ${shortInstant(first)}: ${reason}`,
        next: `errata explain ${name} ${first.slice(0, 10)}`,
        exitCode: 3,
      });
    if (waitsFor === 'failing')
      concerns.push({
        word: `${windows} failing`,
        text: `a measure of ${counted(windows, 'keyed window')} cannot be computed, the first at ${shortInstant(first)}: ${reason}; tried by ${counted(String(tries), 'run')}; the rest is published without, and each run tries again`,
        next: `errata explain ${name} ${first.slice(0, 10)}`,
        exitCode: 3,
      });
  }
  for (const { state, released, events } of status.waiting) {
    if (state === 'pending' && !released)
      concerns.push({
        word: `${counted(events, 'event')} pending`,
        text: `${counted(events, 'refused event')} ${events === '1' ? 'awaits' : 'await'} a person; they are named in ${gold.schema}.${gold.name}_side_output`,
        next: `errata publish ${name} --all --actor NAME --reason TEXT --dry-run`,
        exitCode: 3,
      });
  }
  if (status.open_proposals !== '0')
    concerns.push({
      word: `${counted(status.open_proposals, 'proposal')} open`,
      text: `${counted(status.open_proposals, 'version')} proposed, for a person to approve or reject`,
      next: `errata review ${name}`,
      exitCode: 3,
    });
  const { undelivered, oldest_age_seconds: age, last_error: undeliveredFor } = status.notices;
  if (undeliveredFor !== null)
    concerns.push({
      word: `${counted(undelivered, 'notice')} undelivered`,
      text: `the oldest notice has waited for ${spanText(age ?? '0')}: ${undeliveredFor}`,
      next: 'errata notify',
      // by then it is more than a receiver that restarts
      exitCode: isDay(age) ? 3 : 0,
    });
  if (status.late_seals !== '0')
    concerns.push({
      word: counted(status.late_seals, 'late seal'),
      text: `${counted(status.late_seals, 'version')} 1 of the stream came after Errata had published into the keyed window, and was kept beside the ledger`,
      next: '',
      exitCode: 3,
    });
  return concerns;
}

const isDay = (seconds: string | null) => BigInt((seconds ?? '0').split('.')[0] as string) >= 86_400n;

function failureText(failure: LastRun['failure']): string {
  if (!failure) return 'no message was kept';
  return `${failure.message}${failure.code ? ` (${failure.code})` : ''}${failure.detail ? `; ${failure.detail}` : ''}`;
}
