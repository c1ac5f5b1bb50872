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
  /** Of a rollup whose rows carry their own delay. */
  readonly delay: number | null;
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
  /** Of sessions: rows with one id in two of them, and a row that joins the two. */
  readonly hasBridges?: boolean;
  /** Of hopping windows; left out: tumbling. */
  readonly every?: number;
  readonly delay: number;
  readonly lateness: number;
  readonly skew: number;
  readonly policy: 'auto' | 'grace' | 'review';
  /** false: one total a window. */
  readonly keyed: boolean;
  /** Left out: one watermark over all rows. */
  readonly sources?: SourceRules;
  /** Delays that differ from `delay`. */
  readonly sourceDelays?: Readonly<Record<string, number>>;
  /** Each row carries its own; null: that of the rollup. */
  readonly rowDelays?: true;
  /** By key; `null` is the NULL key. */
  readonly keyDelays?: Readonly<Record<string, number>>;
  readonly keyLateness?: Readonly<Record<string, number>>;
  readonly sourceLateness?: Readonly<Record<string, number>>;
  /** Each row's delay is its allowed lateness; null: that of the rollup. */
  readonly rowLateness?: true;
  /** Bronze is partitioned, and the measures of closed partitions are kept: the model knows nothing of it. */
  readonly partials?: true;
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

/** What a version would be if a person approved it. */
export interface Proposal {
  readonly window: number;
  readonly key: string | null;
  /** The latest version; 0: there is none. */
  readonly base: number;
  readonly count: number;
  readonly sum: number;
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

/** A row in one of its windows. */
interface Waiting {
  readonly row: Row;
  readonly window: number;
  readonly event: LateEvent;
  isNew: boolean;
  /** Its late event is told of. */
  isNamed: boolean;
}

interface KeyedWindow {
  readonly versions: Version[];
  /** Rows of version 1 and of every correction since. */
  readonly counted: Row[];
  /** Late rows that a person has yet to approve. */
  readonly proposed: Row[];
}

export class Model {
  readonly #rules: Policy;
  readonly #examined = new Set<Row>();
  readonly #history: History;
  /** First row of each event id in a window, by `window|id`. */
  readonly #firstCopies = new Map<string, Row>();
  readonly #keyedWindows = new Map<string, KeyedWindow>();
  /** Valid rows whose first copy is not decided, or whose keyed window is not sealed yet. */
  #waiting: Waiting[] = [];
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

  get proposals(): Proposal[] {
    return [...this.#keyedWindows].flatMap(([name, { versions, counted, proposed }]) => {
      const [first] = proposed;
      if (!first) return [];
      const rows = [...counted, ...proposed];
      return {
        window: Number(name.split('|')[0]),
        key: this.#keyOf(first),
        base: versions.at(-1)?.version ?? 0,
        count: rows.length,
        sum: rows.reduce((sum, row) => sum + row.amount, 0),
      };
    });
  }

  /** R14: the valid first copies of all sealed keyed windows, whatever their state; once for each window that holds them. */
  get restated(): Row[] {
    const pending = this.lateEvents.filter(
      ({ state, window, row }) =>
        state === 'pending' &&
        (window as number) + this.#rules.size <= this.#sealedUntil + this.#aheadOf(row),
    );
    return [
      ...[...this.#keyedWindows.values()].flatMap((window) => window.counted),
      ...pending.map(({ row }) => row),
    ];
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
      const shared = this.#history.of(row);
      const watermark = shared === null ? null : shared + this.#aheadOf(row);
      const w = watermark ?? Number.NEGATIVE_INFINITY;
      for (const window of this.#windowsOf(row)) {
        const end = window + rules.size;
        const lateness = latenessOf(this.#rules, row);
        const landing = w >= end + lateness ? 'side_output' : w >= end ? 'late_firing' : 'open';
        const event: LateEvent = { window, row, landing, watermark, state: 'pending', version: null };
        this.#waiting.push({ row, window, event, isNew: true, isNamed: false });
      }
    }

    this.#decideFirstCopies(sealedBefore);
    this.#seal(sealedBefore, touch);
    for (const { window, key, events } of touched.values()) this.#correct(window, key, events);
    for (const entry of this.#waiting) entry.isNew = false;
    this.#frontier = Math.max(this.#frontier, bound);
  }

  #isSealed({ window, row }: Waiting, until: number): boolean {
    return window + this.#rules.size <= until + this.#aheadOf(row);
  }

  /** R5: which row counts is decided when one of them is sealed, or is late: the first by ingestion of those there are. */
  #decideFirstCopies(sealedBefore: number): void {
    const groups = new Map<string, Waiting[]>();
    for (const entry of this.#waiting) {
      const name = nameOf(entry);
      if (!this.#firstCopies.has(name)) groups.set(name, [...(groups.get(name) ?? []), entry]);
    }
    const wasSealed = (entry: Waiting) => this.#isSealed(entry, sealedBefore);
    const sealsNow = (entry: Waiting) => !wasSealed(entry) && this.#isSealed(entry, this.#sealedUntil);
    const copies = new Set<Waiting>();
    for (const [name, group] of groups) {
      const isSealing = group.some(sealsNow);
      const isLate = (entry: Waiting) => entry.isNew && (wasSealed(entry) || entry.event.landing !== 'open');
      if (!isSealing && !group.some(isLate)) continue;
      // Of a keyed window that was sealed, what a version may have counted is not displaced by what is examined later.
      const keepsOld = !isSealing && !this.#rules.keyDelays;
      const place = (entry: Waiting) => (keepsOld && entry.isNew ? 1 : 0);
      group.sort((a, b) => place(a) - place(b) || a.row.ingestedAt - b.row.ingestedAt);
      const [first, ...further] = group as [Waiting, ...Waiting[]];
      for (const entry of further) copies.add(entry);
      // One whose key is still open counts nowhere yet: an earlier one may still become visible.
      if (this.#isSealed(first, this.#sealedUntil) || first.event.landing !== 'open')
        this.#firstCopies.set(name, first.row);
    }
    this.#waiting = this.#waiting.filter((entry) => {
      const first = this.#firstCopies.get(nameOf(entry));
      return !copies.has(entry) && (first === undefined || first === entry.row);
    });
  }

  #aheadOf(row: Row): number {
    return aheadOf(this.#rules, row.key);
  }

  #seal(sealedBefore: number, touch: (event: LateEvent) => void): void {
    const open: Waiting[] = [];
    for (const entry of this.#waiting) {
      const { row, window, event } = entry;
      const isFirst = this.#firstCopies.get(nameOf(entry)) === row;
      const isLate = event.landing !== 'open' || this.#isSealed(entry, sealedBefore);
      if (isFirst && isLate && !entry.isNamed) {
        entry.isNamed = true;
        this.lateEvents.push(event);
      }
      if (!this.#isSealed(entry, this.#sealedUntil)) open.push(entry);
      else if (!isLate) this.#keyedWindow(window, this.#keyOf(row)).counted.push(row);
      else if (this.#rules.policy === 'review')
        this.#keyedWindow(window, this.#keyOf(row)).proposed.push(row);
      else if (event.landing !== 'side_output' || this.#rules.policy === 'auto') touch(event);
    }
    this.#waiting = open;
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
    const found = this.#keyedWindows.get(name) ?? { versions: [], counted: [], proposed: [] };
    this.#keyedWindows.set(name, found);
    return found;
  }
}

/** How far the watermark of a key is ahead of the rollup's. */
export function aheadOf({ delay, keyDelays = {} }: Policy, key: string | null): number {
  return delay - (keyDelays[String(key)] ?? delay);
}

export function latenessOf(rules: Policy, { key, source, delay }: Row): number {
  const { lateness, keyLateness = {}, sourceLateness = {}, rowLateness } = rules;
  if (rowLateness) return delay ?? lateness;
  return keyLateness[String(key)] ?? sourceLateness[source] ?? lateness;
}

function nameOf({ window, row }: Waiting): string {
  return `${window}|${row.id}`;
}
