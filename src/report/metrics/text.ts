/** The figures in Prometheus' text format. Each scrape has a registry of its own, so nothing stays in memory. */
import { Counter, Gauge, Registry } from 'prom-client';
import type { RollupFigures, ServerFigures } from './figures.ts';
import { alertsOf } from './levels.ts';

export const metricsType = Registry.PROMETHEUS_CONTENT_TYPE;

export async function metricsText(figures: ServerFigures): Promise<string> {
  const registry = new Registry();
  const { gauge } = makers(registry);
  gauge('errata_notices_waiting', 'Notices that no receiver has got yet.').set(figures.noticesWaiting);
  if (figures.openTransactionSeconds !== null)
    gauge(
      'errata_open_transaction_seconds',
      'How long the oldest transaction that has written has been open; rows behind it are read again by each run.',
    ).set(figures.openTransactionSeconds);
  ofRollups(registry, figures.rollups);
  return await registry.metrics();
}

function ofRollups(registry: Registry, rollups: readonly RollupFigures[]): void {
  const { gauge, counter } = makers(registry);
  /** One value a rollup, where there is one. */
  const each = (name: string, help: string, value: (figures: RollupFigures) => number | null) => {
    const metric = gauge(name, help, ['rollup']);
    for (const figures of rollups) {
      const found = value(figures);
      if (found !== null) metric.set({ rollup: figures.rollup.name }, found);
    }
  };
  const total = (name: string, help: string, of: string) => {
    const metric = counter(name, help, ['rollup']);
    for (const { rollup, totals } of rollups) metric.inc({ rollup: rollup.name }, totals[of] ?? 0);
  };

  each('errata_last_success_timestamp_seconds', 'When the last run succeeded.', (one) => one.lastSuccessAt);
  each('errata_last_run_timestamp_seconds', 'When the last run ended.', (one) => one.lastRunAt);
  each('errata_last_run_failed', 'Whether the last run failed.', (one) => Number(one.lastRunFailed));
  each('errata_paused', 'Whether the rollup is paused.', (one) => Number(one.isPaused));
  each('errata_readable', 'Whether its relations are as the settings say.', (one) =>
    Number(one.own !== null),
  );
  each(
    'errata_answered_until_timestamp_seconds',
    'The last due moment of its schedule that a run has answered.',
    (one) => one.answeredUntil,
  );
  each(
    'errata_schedule_failures',
    'Scheduled runs that failed in succession; it waits between them.',
    (one) => one.scheduleFailures,
  );
  each('errata_frontier_timestamp_seconds', 'How far bronze has been examined.', (one) => one.frontier);
  each('errata_watermark_timestamp_seconds', 'How far windows are sealed.', (one) => one.watermark);
  each('errata_watermark_lag_seconds', 'How far the watermark is behind the clock.', (one) =>
    one.watermark === null ? null : one.now - one.watermark,
  );
  each('errata_open_proposals', 'Versions that await a person.', (one) => one.openProposals);
  each(
    'errata_unexplained_windows',
    'Keyed windows that the last sweep of reconcile could not explain.',
    (one) => one.unexplained,
  );
  each(
    'errata_last_reconciliation_timestamp_seconds',
    'When the last sweep of reconcile began.',
    (one) => one.reconciledAt,
  );
  each(
    'errata_side_output_share',
    'The part of the rows examined in the last day that was refused.',
    (one) => one.sideOutputShare,
  );

  total('errata_runs_total', 'Runs that succeeded.', 'runs');
  total('errata_failed_runs_total', 'Runs that failed.', 'failed_runs');
  total('errata_rows_examined_total', 'Rows of bronze that runs have examined.', 'rows_examined');
  total('errata_quarantined_rows_total', 'Rows that went into quarantine.', 'quarantined');
  total('errata_conflicts_total', 'Copies that differ in key or measures.', 'conflicts');
  total('errata_windows_sealed_total', 'Keyed windows that got version 1.', 'windows_sealed');
  total(
    'errata_windows_corrected_total',
    'Correction versions that runs have published.',
    'windows_corrected',
  );
  total('errata_windows_proposed_total', 'Correction versions that runs have proposed.', 'windows_proposed');
  const late = counter('errata_late_rows_total', 'Rows that came late, by landing; stragglers landed open.', [
    'rollup',
    'landing',
  ]);
  for (const { rollup, totals } of rollups) {
    late.inc({ rollup: rollup.name, landing: 'late_firing' }, totals.late_firing ?? 0);
    late.inc({ rollup: rollup.name, landing: 'side_output' }, totals.side_output ?? 0);
    late.inc({ rollup: rollup.name, landing: 'straggler' }, totals.stragglers ?? 0);
  }

  const stage = gauge(
    'errata_run_stage_seconds',
    'How long each stage of the last run that succeeded took.',
    ['rollup', 'stage'],
  );
  const windows = gauge('errata_backlog_windows', 'Keyed windows in the queue, by what they wait for.', [
    'rollup',
    'waits_for',
  ]);
  const age = gauge('errata_backlog_age_seconds', 'How long the oldest of them has waited.', [
    'rollup',
    'waits_for',
  ]);
  const pending = gauge('errata_pending_rows', 'Late events that await a person, or, released, a run.', [
    'rollup',
    'released',
  ]);
  const lateness = gauge(
    'errata_late_rows_lateness_seconds',
    'How late the late rows of the last day came, by source partition.',
    ['rollup', 'source', 'percentile'],
  );
  const threshold = gauge('errata_alert_threshold', 'Thresholds of the settings.', [
    'rollup',
    'alert',
    'level',
  ]);
  const level = gauge('errata_alert_level', 'Against them: 0 within, 1 warn, 2 error.', ['rollup', 'alert']);
  for (const figures of rollups) {
    const { own, stages } = figures;
    const rollup = figures.rollup.name;
    for (const [name, seconds] of Object.entries(stages)) stage.set({ rollup, stage: name }, seconds);
    for (const waitsFor of own ? ['run', 'seal', 'failing', 'blocked'] : []) {
      const part = own?.backlog.find((one) => one.waitsFor === waitsFor);
      windows.set({ rollup, waits_for: waitsFor }, part?.windows ?? 0);
      age.set({ rollup, waits_for: waitsFor }, part?.ageSeconds ?? 0);
    }
    if (own) {
      pending.set({ rollup, released: 'false' }, own.pending.unreleased);
      pending.set({ rollup, released: 'true' }, own.pending.released);
    }
    for (const { source, percentiles } of own?.lateness ?? [])
      for (const [percentile, seconds] of Object.entries(percentiles))
        lateness.set({ rollup, source, percentile }, seconds);
    for (const alert of alertsOf(figures)) {
      level.set({ rollup, alert: alert.alert }, { ok: 0, warn: 1, error: 2 }[alert.level]);
      if (alert.warn) threshold.set({ rollup, alert: alert.alert, level: 'warn' }, alert.warn.value);
      if (alert.error) threshold.set({ rollup, alert: alert.alert, level: 'error' }, alert.error.value);
    }
  }
}

function makers(registry: Registry) {
  const registers = [registry];
  return {
    gauge: (name: string, help: string, labelNames: readonly string[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    counter: (name: string, help: string, labelNames: readonly string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
  };
}
