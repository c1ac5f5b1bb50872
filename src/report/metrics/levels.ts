/** How a rollup stands against its thresholds: what `errata status --fail-on` ends with, and what metrics repeat. */
import { alertNames } from '../../config/section/alerts.ts';
import type { AlertName, Level, Levels } from '../../config/settings.ts';
import { amount, counted } from '../../output/amount.ts';
import { spanText } from '../instant-text.ts';
import type { OwnFigures, RollupFigures } from './figures.ts';

export interface Alert {
  readonly alert: AlertName;
  readonly level: 'ok' | 'warn' | 'error';
  /** Seconds, keyed windows, or a part of one; null: there is no such figure yet, or it cannot be read. */
  readonly value: number | null;
  readonly warn: Level | null;
  readonly error: Level | null;
}

/** What thresholds look at. */
type Watched = Pick<
  RollupFigures,
  'rollup' | 'now' | 'createdAt' | 'lastSuccessAt' | 'unexplained' | 'sideOutputShare'
> & { readonly own: Pick<OwnFigures, 'backlog'> | null };

/** Those that have a threshold. */
export function alertsOf(figures: Watched): Alert[] {
  return alertNames.flatMap((alert) => {
    const levels = figures.rollup.alerts?.[alert];
    if (levels === undefined) return [];
    const value = figureOf(figures, alert);
    return [
      {
        alert,
        level: levelOf(value, levels),
        value,
        warn: levels.warn ?? null,
        error: levels.error ?? null,
      },
    ];
  });
}

/** What cannot be told is no reason to be silent, except where there is nothing to tell of yet. */
function figureOf(figures: Watched, alert: AlertName): number | null {
  switch (alert) {
    case 'stale':
      // one that never succeeded is as old as it is known
      return wholeMicroseconds(figures.now - (figures.lastSuccessAt ?? figures.createdAt));
    case 'backlog':
      if (figures.own === null) return Number.POSITIVE_INFINITY;
      return figures.own.backlog.find(({ waitsFor }) => waitsFor === 'run')?.ageSeconds ?? 0;
    case 'unexplained':
      return figures.unexplained;
    case 'lateness':
      return figures.sideOutputShare;
  }
}

/** Of two instants as doubles the difference is off by less than half of one. */
function wholeMicroseconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

function levelOf(value: number | null, { warn, error }: Levels): Alert['level'] {
  if (value === null) return 'ok';
  if (error && value > error.value) return 'error';
  return warn && value > warn.value ? 'warn' : 'ok';
}

/** `stale: error, 7 hours, more than 6 hours`. */
export function alertText({ alert, level, value, warn, error }: Alert): string {
  const passed = level === 'error' ? error : level === 'warn' ? warn : undefined;
  const shown = value === null ? 'no figure yet' : valueText(alert, value);
  return passed ? `${alert}: ${level}, ${shown}, more than ${passed.text}` : `${alert}: within, ${shown}`;
}

function valueText(alert: AlertName, value: number): string {
  if (!Number.isFinite(value)) return 'it cannot be read';
  if (alert === 'unexplained') return counted(String(value), 'keyed window');
  if (alert === 'lateness') return `${amount((value * 100).toFixed(3).replace(/\.?0+$/, ''))}%`;
  return spanText(Math.max(0, value).toFixed(6));
}
