/** The model's history of the watermark (R2): what a row is judged by, and what seals. */
import type { LogEntry, Policy, Row } from './model.ts';
import { type SourceEvent, type Watermarks, watermarksOf } from './source-partitions.ts';

interface Step {
  readonly at: number;
  readonly watermark: number;
}

export class History {
  readonly #rules: Policy;
  readonly #steps: Step[] = [];
  readonly #events: SourceEvent[] = [];
  /** Of rows that carry their own. */
  readonly #delays: { at: number; delay: number }[] = [];
  #first = Number.POSITIVE_INFINITY;
  #watermarks: Watermarks = { combined: [], own: new Map() };

  constructor(rules: Policy) {
    this.#rules = rules;
  }

  /** @param rows new and valid; those before the frontier move nothing */
  move(rows: readonly Row[], log: readonly LogEntry[], bound: number, frontier: number): void {
    const { strategy, sources, rowDelays } = this.#rules;
    if (rowDelays)
      for (const { ingestedAt: at, delay } of rows)
        if (delay !== null && at >= frontier) this.#delays.push({ at, delay });
    if (sources) {
      const events: SourceEvent[] =
        strategy === 'recorded'
          ? log
              // an entry of the bound's own instant waits for the next run
              .filter((entry) => entry.at < bound)
              .map((entry) => ({ ...entry, watermark: entry.kind === 'value' ? entry.watermark : null }))
          : rows.map((row) => ({
              source: row.source,
              at: row.ingestedAt,
              watermark: row.eventTime - this.#delayOf(row),
              kind: 'value',
            }));
      this.#events.push(...events.filter(({ at }) => at >= frontier));
      if (!Number.isFinite(this.#first)) {
        const instants = [...rows.map((row) => row.ingestedAt), ...this.#events.map(({ at }) => at)];
        this.#first = Math.min(...instants.filter((at) => at >= frontier));
      }
      this.#watermarks = watermarksOf(this.#events, sources, this.#first);
      return;
    }
    const moves: Step[] =
      strategy === 'bounded'
        ? rows.map((row) => ({ at: row.ingestedAt, watermark: row.eventTime - this.#delayOf(row) }))
        : strategy === 'recorded'
          ? log.filter((entry) => entry.at <= bound)
          : [];
    for (const move of moves.filter((m) => m.at >= frontier).sort((a, b) => a.at - b.at))
      this.#steps.push(move);
  }

  /** What seals at a bound, or before the rows of an instant; rows of one instant share the watermark from before it. */
  sealing(instant: number): number | null {
    const { strategy, sources } = this.#rules;
    if (strategy === 'fixed_delay') return this.#fixedUntil(instant);
    return greatestBefore(sources ? this.#watermarks.combined : this.#steps, instant);
  }

  /** What judges a row. */
  of(row: Row): number | null {
    const { strategy, rowDelays } = this.#rules;
    const combined = this.sealing(row.ingestedAt);
    if (strategy === 'fixed_delay') {
      const own = row.ingestedAt - this.#delayOf(row);
      return rowDelays && combined !== null ? Math.max(own, combined) : own;
    }
    if (this.#rules.sources?.combine !== 'own') return combined;
    const own = greatestBefore(this.#watermarks.own.get(row.source) ?? [], row.ingestedAt);
    return own === null ? combined : Math.max(own, combined ?? own);
  }

  /** How far a row says that its watermark is behind it. */
  #delayOf(row: Row): number {
    const { delay, sourceDelays = {}, rowDelays } = this.#rules;
    return (rowDelays ? row.delay : sourceDelays[row.source]) ?? delay;
  }

  /** Nothing is sealed before the slowest source partition can have delivered it. */
  #fixedUntil(bound: number): number {
    const { delay, sourceDelays = {} } = this.#rules;
    // At each instant: by the greatest delay that came before it; and the greatest of all instants so far holds.
    const slowestBefore = (at: number) =>
      Math.max(
        delay,
        ...Object.values(sourceDelays),
        ...this.#delays.filter((one) => one.at < at).map((one) => one.delay),
      );
    const instants = [...this.#delays.map(({ at }) => at).filter((at) => at < bound), bound];
    return Math.max(...instants.map((at) => at - slowestBefore(at)));
  }
}

function greatestBefore(steps: readonly Step[], instant: number): number | null {
  const before = steps.filter((step) => step.at < instant).map((step) => step.watermark);
  return before.length === 0 ? null : Math.max(...before);
}
