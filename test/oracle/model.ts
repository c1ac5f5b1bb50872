/**
 * An independent model of R1 to R10 for tumbling and hopping windows: plain loops over rows in memory, no
 * SQL and nothing of `src/`. Times are whole seconds. It says what a database must hold after a sequence of runs.
 */
import type { SourceRules } from './source-partitions.ts';
import { History } from './watermark.ts';

export interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly source: string;
  readonly eventTime: number;
  readonly ingestedAt: number;
  readonly amount: number;
}

/** Where source partitions are not told apart, only instant and watermark of an entry count. */
export interface LogEntry {
  readonly at: number;
  readonly watermark: number;
  readonly source: string;
  readonly kind: 'value' | 'idle' | 'wake';
}

export interface Policy {
  readonly strategy: 'bounded' | 'fixed_delay' | 'recorded';
  /** 0 for sessions. */
  readonly size: number;
  /** Of sessions. */
  readonly gap?: number;
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
  /** Of a session. */
  readonly end?: number;
  readonly key: string | null;
  readonly version: number;
  readonly count: number;
  /** null: void. */
  readonly sum: number | null;
  readonly causes: string;
}

export interface LateEvent {
  readonly window: number | null;
  /** Of a session. */
  readonly end?: number;
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
  readonly #history: History;
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
    this.#history = new History(rules);
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
    this.#history.move(news.filter(isValid), log, bound, this.#frontier);

    const sealedBefore = this.#sealedUntil;
    this.#sealedUntil = Math.max(sealedBefore, this.#history.sealing(bound) ?? Number.NEGATIVE_INFINITY);

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
      const watermark = this.#history.of(row);
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
