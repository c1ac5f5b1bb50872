/**
 * An independent model of R1 to R10 for tumbling and hopping windows: plain loops over rows in memory, no
 * SQL and nothing of `src/`. Times are whole seconds. It says what a database must hold after a sequence of runs.
 */
import { type SourceEvent, type SourceRules, type Watermarks, watermarksOf } from './source-partitions.ts';

export interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly source: string;
  readonly eventTime: number;
  readonly ingestedAt: number;
  readonly amount: number;
}

interface Step {
  readonly at: number;
  readonly watermark: number;
}

/** Where source partitions are not told apart, only instant and watermark of an entry count. */
export interface LogEntry extends Step {
  readonly source: string;
  readonly kind: 'value' | 'idle' | 'wake';
}

export interface Policy {
  readonly strategy: 'bounded' | 'fixed_delay' | 'recorded';
  readonly size: number;
  /** Of hopping windows; left out: tumbling. */
  readonly every?: number;
  readonly delay: number;
  readonly lateness: number;
  readonly skew: number;
  readonly policy: 'auto' | 'grace';
  /** false: one total a window. */
  readonly keyed: boolean;
  /** Left out: one watermark over all rows. */
  readonly sources?: SourceRules;
}

export interface Version {
  readonly window: number;
  readonly key: string | null;
  readonly version: number;
  readonly count: number;
  readonly sum: number;
  readonly causes: string;
}

interface LateEvent {
  readonly window: number | null;
  readonly row: Row;
  readonly landing: 'open' | 'late_firing' | 'side_output' | 'quarantined';
  readonly watermark: number | null;
  state: 'pending' | 'included' | null;
  version: number | null;
}

interface KeyedWindow {
  readonly versions: Version[];
  /** Rows of version 1 and of every correction since. */
  readonly counted: Row[];
}

export class Model {
  readonly #rules: Policy;
  readonly #examined = new Set<Row>();
  readonly #steps: Step[] = [];
  readonly #events: SourceEvent[] = [];
  #first = Number.POSITIVE_INFINITY;
  #watermarks: Watermarks = { combined: [], own: new Map() };
  /** First row of each event id in a window, by `window|id`. */
  readonly #firstCopies = new Map<string, Row>();
  readonly #keyedWindows = new Map<string, KeyedWindow>();
  /** Valid rows of windows that are not sealed yet. */
  #waiting: { row: Row; window: number; late: LateEvent | undefined }[] = [];
  #frontier = Number.NEGATIVE_INFINITY;
  #sealedUntil = Number.NEGATIVE_INFINITY;
  readonly lateEvents: LateEvent[] = [];

  constructor(rules: Policy) {
    this.#rules = rules;
  }

  get versions(): Version[] {
    return [...this.#keyedWindows.values()].flatMap((window) => window.versions);
  }

  run(bound: number, visible: readonly Row[], log: readonly LogEntry[]): void {
    const rules = this.#rules;
    const news = visible
      .filter((row) => !this.#examined.has(row) && row.ingestedAt <= bound)
      .sort((a, b) => a.ingestedAt - b.ingestedAt);
    for (const row of news) this.#examined.add(row);
    const isValid = (row: Row) => row.eventTime <= row.ingestedAt + rules.skew;
    this.#moveWatermark(news.filter(isValid), log, bound);

    const sealedBefore = this.#sealedUntil;
    const sealsNow = rules.strategy === 'fixed_delay' ? bound - rules.delay : this.#watermarkBefore(bound);
    this.#sealedUntil = Math.max(sealedBefore, sealsNow ?? Number.NEGATIVE_INFINITY);

    const touched = new Map<string, { window: number; key: string | null; events: LateEvent[] }>();
    const touch = (event: LateEvent) => {
      const [window, key] = [event.window as number, this.#keyOf(event.row)];
      const name = `${window}|${key === null ? 'null' : `'${key}`}`;
      const entry = touched.get(name) ?? { window, key, events: [] };
      touched.set(name, entry);
      entry.events.push(event);
    };

    for (const row of news) {
      if (!isValid(row)) {
        this.lateEvents.push({
          window: null,
          row,
          landing: 'quarantined',
          watermark: null,
          state: null,
          version: null,
        });
        continue;
      }
      const watermark =
        rules.strategy === 'fixed_delay' ? row.ingestedAt - rules.delay : this.#watermarkOf(row);
      const w = watermark ?? Number.NEGATIVE_INFINITY;
      for (const window of this.#windowsOf(row)) {
        const end = window + rules.size;
        const landing = w >= end + rules.lateness ? 'side_output' : w >= end ? 'late_firing' : 'open';
        const late: LateEvent = { window, row, landing, watermark, state: 'pending', version: null };
        if (end > sealedBefore) {
          this.#waiting.push({ row, window, late: landing === 'open' ? undefined : late });
          continue;
        }
        // sealed in an earlier run: a first copy, or nothing
        const name = `${window}|${row.id}`;
        if (this.#firstCopies.has(name)) continue;
        this.#firstCopies.set(name, row);
        this.lateEvents.push(late);
        if (landing !== 'side_output' || rules.policy === 'auto') touch(late);
      }
    }

    this.#seal(touch);
    for (const { window, key, events } of touched.values()) this.#correct(window, key, events);
    this.#frontier = Math.max(this.#frontier, bound);
  }

  #moveWatermark(rows: readonly Row[], log: readonly LogEntry[], bound: number): void {
    const { strategy, delay, sources } = this.#rules;
    if (sources) {
      const events: SourceEvent[] =
        strategy === 'recorded'
          ? log
              // an entry of the bound's own instant waits for the next run
              .filter((entry) => entry.at < bound)
              .map((entry) => ({ ...entry, watermark: entry.kind === 'value' ? entry.watermark : null }))
          : rows.map(({ source, ingestedAt: at, eventTime }) => ({
              source,
              at,
              watermark: eventTime - delay,
              kind: 'value',
            }));
      this.#events.push(...events.filter(({ at }) => at >= this.#frontier));
      if (!Number.isFinite(this.#first)) {
        const instants = [...rows.map((row) => row.ingestedAt), ...this.#events.map(({ at }) => at)];
        this.#first = Math.min(...instants.filter((at) => at >= this.#frontier));
      }
      this.#watermarks = watermarksOf(this.#events, sources, this.#first);
      return;
    }
    const moves: Step[] =
      strategy === 'bounded'
        ? rows.map((row) => ({ at: row.ingestedAt, watermark: row.eventTime - delay }))
        : strategy === 'recorded'
          ? log.filter((entry) => entry.at <= bound)
          : [];
    for (const move of moves.filter((m) => m.at >= this.#frontier).sort((a, b) => a.at - b.at))
      this.#steps.push(move);
  }

  /** Rows of one instant share the watermark from before it. */
  #watermarkBefore(instant: number): number | null {
    return greatestBefore(this.#rules.sources ? this.#watermarks.combined : this.#steps, instant);
  }

  #watermarkOf(row: Row): number | null {
    const combined = this.#watermarkBefore(row.ingestedAt);
    if (this.#rules.sources?.combine !== 'own') return combined;
    const own = greatestBefore(this.#watermarks.own.get(row.source) ?? [], row.ingestedAt);
    return own === null ? combined : Math.max(own, combined ?? own);
  }

  #seal(touch: (event: LateEvent) => void): void {
    const { size, policy } = this.#rules;
    const sealing = this.#waiting.filter(({ window }) => window + size <= this.#sealedUntil);
    this.#waiting = this.#waiting.filter(({ window }) => window + size > this.#sealedUntil);
    for (const { row, window, late } of sealing.sort((a, b) => a.row.ingestedAt - b.row.ingestedAt)) {
      const name = `${window}|${row.id}`;
      if (this.#firstCopies.has(name)) continue;
      this.#firstCopies.set(name, row);
      if (late) {
        this.lateEvents.push(late);
        if (late.landing !== 'side_output' || policy === 'auto') touch(late);
      } else {
        this.#keyedWindow(window, this.#keyOf(row)).counted.push(row);
      }
    }
    for (const [name, keyed] of this.#keyedWindows) {
      if (keyed.versions.length > 0 || keyed.counted.length === 0) continue;
      const window = Number(name.split('|')[0]);
      keyed.versions.push(this.#version(window, this.#keyOf(keyed.counted[0] as Row), 1, keyed.counted, ''));
    }
  }

  /** Starts of the windows that hold an event time: one, several, or none in a gap. */
  #windowsOf({ eventTime }: Row): number[] {
    const { size, every = size } = this.#rules;
    const starts: number[] = [];
    for (let start = Math.floor(eventTime / every) * every; start + size > eventTime; start -= every)
      starts.push(start);
    return starts;
  }

  #correct(window: number, key: string | null, events: readonly LateEvent[]): void {
    const keyed = this.#keyedWindow(window, key);
    const number = (keyed.versions.at(-1)?.version ?? 1) + 1;
    const causeOf = {
      open: 'straggler',
      late_firing: 'late_firing',
      side_output: 'refused',
      quarantined: '',
    };
    const causes = [...new Set(events.map((event) => causeOf[event.landing]))].sort().join('+');
    for (const event of events) {
      keyed.counted.push(event.row);
      event.state = 'included';
      event.version = number;
    }
    keyed.versions.push(this.#version(window, key, number, keyed.counted, causes));
  }

  #version(
    window: number,
    key: string | null,
    version: number,
    rows: readonly Row[],
    causes: string,
  ): Version {
    return {
      window,
      key,
      version,
      count: rows.length,
      sum: rows.reduce((sum, row) => sum + row.amount, 0),
      causes,
    };
  }

  #keyOf(row: Row): string | null {
    return this.#rules.keyed ? row.key : null;
  }

  #keyedWindow(window: number, key: string | null): KeyedWindow {
    const name = `${window}|${key === null ? 'null' : `'${key}`}`;
    const found = this.#keyedWindows.get(name) ?? { versions: [], counted: [] };
    this.#keyedWindows.set(name, found);
    return found;
  }
}

function greatestBefore(steps: readonly Step[], instant: number): number | null {
  const before = steps.filter((step) => step.at < instant).map((step) => step.watermark);
  return before.length === 0 ? null : Math.max(...before);
}
