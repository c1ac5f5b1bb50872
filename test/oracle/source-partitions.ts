/**
 * An independent model of R2 for several source partitions: from the first event on, at every instant at which anything
 * may change, by the words of the rule. Plain loops, nothing kept between calls. Times are whole seconds; what is in
 * force from an instant on, and not just after it, stands half a second before it.
 */
export interface SourceEvent {
  readonly source: string;
  readonly at: number;
  /** null: an idle mark, or an entry that wakes. */
  readonly watermark: number | null;
  readonly kind: 'value' | 'idle' | 'wake';
}

export interface SourceRules {
  readonly combine: 'min' | 'max' | 'own';
  readonly idleAfter?: number;
  readonly declared?: readonly string[];
}

interface Step {
  readonly at: number;
  readonly watermark: number;
}

export interface Watermarks {
  readonly combined: readonly Step[];
  readonly own: ReadonlyMap<string, readonly Step[]>;
}

interface Source {
  own: number | null;
  last: number;
  isMarked: boolean;
  /** Declared, and nothing came from it yet. */
  isSilent: boolean;
}

const order = { wake: 0, value: 1, idle: 2 };

/** @param first the first row that may move a watermark, or entry: a declared source partition is silent from there on. */
export function watermarksOf(events: readonly SourceEvent[], rules: SourceRules, first: number): Watermarks {
  const { combine, idleAfter = Number.POSITIVE_INFINITY, declared = [] } = rules;
  const sources = new Map<string, Source>(
    declared.map((name) => [name, { own: null, last: first, isMarked: false, isSilent: true }]),
  );
  const combined: Step[] = [];
  const own = new Map<string, Step[]>();
  let current: number | null = null;

  const takeAnew = (now: number, at: number) => {
    const all = [...sources.values()];
    const active = all.filter((source) => !source.isMarked && source.last + idleAfter > now);
    const values = (some: Source[]) => some.flatMap((source) => source.own ?? []);
    let found: number[] = [];
    if (combine === 'max' || active.length === 0) {
      found = [Math.max(...values(all))];
    } else if (!active.some((source) => source.isSilent)) {
      found = [Math.min(...values(active).filter((value) => current === null || value >= current))];
    }
    for (const value of found) {
      if (!Number.isFinite(value) || (current !== null && value <= current)) continue;
      current = value;
      combined.push({ at, watermark: value });
    }
  };

  const instants = new Set([first, ...events.map(({ at }) => at)]);
  for (const at of [...instants]) if (Number.isFinite(idleAfter)) instants.add(at + idleAfter);
  for (const now of [...instants].filter(Number.isFinite).sort((a, b) => a - b)) {
    takeAnew(now, now - 0.5);
    const here = events.filter(({ at }) => at === now);
    here.sort((a, b) => order[a.kind] - order[b.kind]);
    for (const { source: name, kind, watermark } of here) {
      const source = sources.get(name) ?? { own: null, last: now, isMarked: false, isSilent: false };
      sources.set(name, source);
      source.last = now;
      source.isSilent = false;
      if (kind === 'wake') source.isMarked = false;
      if (kind === 'idle') source.isMarked = true;
      if (kind !== 'value' || source.isMarked || watermark === null) continue;
      if (source.own !== null && watermark <= source.own) continue;
      source.own = watermark;
      own.set(name, [...(own.get(name) ?? []), { at: now, watermark }]);
    }
    if (here.length > 0) takeAnew(now, now);
  }
  return { combined, own };
}
