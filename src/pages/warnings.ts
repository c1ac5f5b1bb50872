/** What about a rollup needs a person, from what the overview has read. */
import type { RollupSettings } from '../config/settings.ts';
import { counted } from '../output/amount.ts';
import { alertsOf, alertText } from '../report/metrics/levels.ts';
import { momentText } from './cells.ts';

export interface Standing {
  readonly age: string;
  readonly last_success_run_id: string | null;
  readonly last_success: string | null;
  readonly last_success_age: string | null;
  readonly last_outcome: 'done' | 'attention' | 'failed' | null;
  readonly last_run_id: string | null;
  readonly last_failure: string | null;
  readonly frontier: string | null;
  readonly watermark: string | null;
  readonly watermark_lag: string | null;
  readonly complete_from: string;
  readonly windows_sealed: string | null;
  readonly windows_corrected: string | null;
  readonly open_proposals: string;
  readonly held_proposals: string;
  readonly swept_at: string | null;
  readonly unexplained: string | null;
  readonly side_output_share: string | null;
  readonly paused_by: string | null;
  readonly paused_at: string | null;
  readonly paused_for: string | null;
  readonly schedule_failures: string | null;
  readonly next_attempt_at: string | null;
  readonly schedule_error: string | null;
}

export interface Queued {
  readonly waits_for: 'run' | 'seal' | 'failing' | 'blocked';
  readonly reason: string | null;
  readonly keyed_windows: string;
  readonly first_window_start: string;
  readonly age_seconds: string;
}

export interface PendingRows {
  /** `proposal`: for a person too, who approves or rejects it. */
  readonly waits_for: 'person' | 'proposal' | 'run';
  readonly rows: string;
  readonly windows: string;
  readonly first_window_start: string | null;
  readonly measures: Readonly<Record<string, string | null>>;
}

export interface Warning {
  readonly text: string;
  /** A command. */
  readonly next?: string;
  /** The page that names what it is about. */
  readonly see?: { readonly href: string; readonly text: string };
  readonly fails?: boolean;
}

export function warningsOf(
  settings: RollupSettings,
  standing: Standing,
  queue: readonly Queued[],
  pending: readonly PendingRows[],
): Warning[] {
  const { name } = settings;
  const warnings: Warning[] = [];
  if (standing.paused_by !== null)
    warnings.push({
      text: `paused by ${standing.paused_by} since ${momentText(standing.paused_at ?? '')}: ${standing.paused_for}`,
      next: `errata resume ${name} --actor NAME --reason TEXT`,
    });
  if (standing.last_run_id === null)
    warnings.push({ text: 'no run has been made yet', next: `errata run ${name}` });
  if (standing.last_outcome === 'failed')
    warnings.push({
      text: `run ${standing.last_run_id} failed: ${standing.last_failure ?? 'no message was kept'}`,
      next: `errata check; then errata run ${name}`,
      see: { href: `/rollups/${name}/runs`, text: 'its runs' },
      fails: true,
    });
  if (standing.schedule_failures !== null && standing.schedule_failures !== '0')
    warnings.push({
      text: `${counted(standing.schedule_failures, 'scheduled run')} failed in succession, the next is not before ${momentText(standing.next_attempt_at ?? '')}: ${standing.schedule_error}`,
      next: `errata check; then errata run ${name}`,
      fails: true,
    });
  for (const { waits_for: waitsFor, keyed_windows: windows, reason, first_window_start: first } of queue) {
    if (waitsFor === 'blocked')
      warnings.push({
        text: `${counted(windows, 'keyed window')} blocked, the first at ${momentText(first)}: ${reason}`,
      });
    if (waitsFor === 'failing')
      warnings.push({
        text: `a measure of ${counted(windows, 'keyed window')} cannot be computed, the first at ${momentText(first)}: ${reason}`,
      });
  }
  const awaits = pending.find(({ waits_for: waitsFor }) => waitsFor === 'person');
  if (awaits)
    warnings.push({
      text: `${counted(awaits.rows, 'pending row')} ${awaits.rows === '1' ? 'awaits' : 'await'} a person, the first in the window of ${momentText(awaits.first_window_start ?? '')}`,
      next: `errata publish ${name} --all --actor NAME --reason TEXT --dry-run`,
    });
  if (standing.open_proposals !== '0')
    warnings.push({
      text: `${counted(standing.open_proposals, 'proposal')} ${standing.open_proposals === '1' ? 'awaits' : 'await'} a person`,
      next: `errata review ${name}`,
      see: { href: `/rollups/${name}/proposals`, text: 'they are listed' },
    });
  for (const alert of alertsOf(figuresOf(settings, standing, queue))) {
    if (alert.level !== 'ok') warnings.push({ text: alertText(alert), fails: alert.level === 'error' });
  }
  if (standing.unexplained !== null && standing.unexplained !== '0' && !settings.alerts?.unexplained)
    warnings.push({
      text: `${counted(standing.unexplained, 'keyed window')} unexplained at the last sweep`,
      next: `errata reconcile ${name}`,
    });
  return warnings;
}

/** As thresholds take them. */
function figuresOf(
  rollup: RollupSettings,
  { age, last_success_age: since, unexplained, side_output_share: share }: Standing,
  queue: readonly Queued[],
): Parameters<typeof alertsOf>[0] {
  return {
    rollup,
    now: 0,
    createdAt: -Number(age),
    lastSuccessAt: since === null ? null : -Number(since),
    unexplained: unexplained === null ? null : Number(unexplained),
    sideOutputShare: share === null ? null : Number(share),
    own: {
      backlog: queue.map(({ waits_for: waitsFor, keyed_windows: windows, age_seconds: seconds }) => ({
        waitsFor,
        windows: Number(windows),
        ageSeconds: Number(seconds),
      })),
    },
  };
}
