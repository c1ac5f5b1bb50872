/** The closed periods of a rollup: what each was closed with, and what has become of it since (R12). Amounts are text. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { execute, prepare, query } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { amount, difference } from '../output/amount.ts';
import { windowText } from '../output/window-text.ts';
import { shortInstant } from './instant-text.ts';
import { type KnownAt, type KnownAtFlags, knownAt, knownAtText } from './known-at.ts';
import { publishedRollup } from './published-rollup.ts';
import { isNothing } from './sum-check.ts';

export interface ClosedMeasure {
  readonly act_id: string;
  readonly period: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly act: 'soft_close' | 'hard_close';
  readonly actor: string;
  readonly reason: string;
  readonly is_forced: boolean;
  readonly posting_role: string | null;
  readonly closed_at: string;
  readonly reopened_at: string | null;
  readonly reopened_by: string | null;
  readonly open_until: string | null;
  readonly is_open: boolean;
  readonly measure: string;
  /** As it was closed, for good. */
  readonly closed: string;
  /** What shipped after a forced close, or came late from a stream: version 1. */
  readonly sealed_since: string;
  readonly latest: string;
  /** These are null as of an instant: what the states of rows were then is not on record. */
  readonly pending: string | null;
  readonly held: string | null;
  readonly waived: string | null;
  readonly restated: string | null;
  /** What bronze gave when the period was closed. */
  readonly restated_then: string;
  /** What bronze gives now, less what it gave when the period was closed. */
  readonly restated_after_close: string | null;
  /** Late events examined since; at most 100. */
  readonly events: readonly string[];
}

export interface PostedVersion {
  readonly act_id: string;
  readonly period: string;
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
  readonly key: Readonly<Record<string, string | null>>;
  readonly version: number;
  readonly kind: 'seal' | 'correction' | 'restatement' | 'adjustment';
  readonly causes: readonly string[];
  readonly posting_period: string | null;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly stamp: string;
  readonly deltas: Readonly<Record<string, string | null>>;
  readonly events: readonly string[] | null;
}

export interface ClosedPeriods {
  readonly rollup: string;
  /** Null: as it is known now. */
  readonly known_at: KnownAt | null;
  readonly closes: readonly ClosedMeasure[];
  /** Versions published into closed periods since; at most 1,000. */
  readonly posted: readonly PostedVersion[];
}

/** @throws Failure, exit code 2, if it is not migrated, or what was known then cannot be told. */
export async function readPeriods(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  flags: KnownAtFlags = {},
): Promise<ClosedPeriods> {
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    const rollup = await publishedRollup(transaction, settings, chosen);
    const bindings = bindingsOf(rollup);
    const known = await knownAt(transaction, rollup, flags);
    const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
    const { rows: closes } = await execute<ClosedMeasure>(
      transaction,
      prepare('report/periods.sql', bindings),
      { rollup_id: rollup.id, at: known?.at ?? (clock?.now as string), known_at: known?.at ?? null },
    );
    const { rows: posted } = await execute<PostedVersion>(
      transaction,
      prepare('report/period_versions.sql', bindings),
      { rollup_id: rollup.id, at_most: 1000, known_at: known?.at ?? null },
    );
    return { rollup: chosen.name, known_at: known, closes, posted };
  });
}

export function periodsText({ rollup, known_at: known, closes, posted }: ClosedPeriods): string {
  const when = known ? ` as known at ${knownAtText(known)}` : '';
  if (closes.length === 0)
    return `${rollup}${when}: no period was ${known ? 'closed by then' : 'ever closed'}`;
  const acts = [...new Set(closes.map(({ act_id: id }) => id))];
  return [
    `${rollup}${when}:`,
    ...acts.flatMap((id) => {
      const of = closes.filter((one) => one.act_id === id);
      const since = posted.filter((one) => one.act_id === id);
      return closeLines(of, since);
    }),
  ].join('\n');
}

function closeLines(measures: readonly ClosedMeasure[], posted: readonly PostedVersion[]): string[] {
  const [first] = measures;
  if (!first) return [];
  const how = first.act === 'hard_close' ? 'hard' : `soft, for ${first.posting_role}`;
  const forced = first.is_forced ? ', though not all of it was sealed' : '';
  return [
    `  ${first.period}, closed ${shortInstant(first.closed_at)} by ${first.actor} (${how})${forced}: ${first.reason}`,
    ...(first.reopened_at
      ? [
          `    reopened ${shortInstant(first.reopened_at)} by ${first.reopened_by}, ${first.is_open ? 'open' : 'and was open'} until ${shortInstant(first.open_until)}`,
        ]
      : []),
    ...measures.map(measureText),
    ...(first.events.length > 0 ? [`    events since: ${first.events.join(' ')}`] : []),
    ...posted.map(postedText),
  ];
}

function measureText(one: ClosedMeasure): string {
  const sealed = isNothing(one.sealed_since) ? [] : [`sealed since ${difference(one.sealed_since)}`];
  if (one.restated === null)
    return `    ${one.measure}: closed with ${amount(one.closed)}; published by then ${amount(one.latest)}${sealed.length > 0 ? ` (${sealed[0]})` : ''}`;
  const held = [
    ...sealed,
    ...(isNothing(one.held) ? [] : [`held ${difference(one.held)}`]),
    ...(isNothing(one.pending) ? [] : [`pending ${difference(one.pending)}`]),
    ...(isNothing(one.waived) ? [] : [`waived ${difference(one.waived)}`]),
  ];
  // what was pending or waived by then was in bronze already, and in no version
  const then = one.restated_then === one.closed ? '' : ` (restated ${amount(one.restated_then)})`;
  const since = isNothing(one.restated_after_close)
    ? 'nothing since'
    : `now ${amount(one.restated)}, restated after close: ${difference(one.restated_after_close)}`;
  return `    ${one.measure}: closed with ${amount(one.closed)}${then}; ${since}${held.length > 0 ? ` (${held.join(', ')})` : ''}`;
}

function postedText(one: PostedVersion): string {
  const key = Object.values(one.key).map((value) => value ?? 'NULL');
  const deltas = Object.entries(one.deltas).flatMap(([name, delta]) =>
    delta === null ? [] : [`${name} ${difference(delta)}`],
  );
  const where = one.posting_period ? `posted to ${one.posting_period}` : 'posted while it stood reopened';
  return `    ${[windowText(one), ...key].join(' ')}, version ${one.version}: ${one.kind}, ${where}, ${deltas.join(', ')}${one.events ? `, with ${one.events.join(' ')}` : ''}`;
}
