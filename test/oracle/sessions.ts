/**
 * The model of R6s beside model.ts: sessions of each key as plain lists of rows, nothing of `src/`. A row is joined to the
 * sessions within a gap of it, as they stand when it is ingested; the rest is bookkeeping of what has shipped.
 */
import {
  aheadOf,
  type LateEvent,
  type LogEntry,
  latenessOf,
  type Policy,
  type Row,
  type Version,
} from './model.ts';
import { History } from './watermark.ts';

interface Session {
  readonly key: string | null;
  start: number;
  end: number;
  rows: Row[];
  /** Its version 1, once the watermark has passed the end; an empty list: it arose after its end. */
  shipped: readonly Row[] | undefined;
  isReplaced: boolean;
  late: LateEvent[];
}

export class SessionModel {
  readonly #rules: Policy;
  readonly #history: History;
  readonly #gap: number;
  readonly #examined = new Set<Row>();
  readonly #sessions: Session[] = [];
  readonly #versions = new Map<string, Version[]>();
  #frontier = Number.NEGATIVE_INFINITY;
  #sealedUntil = Number.NEGATIVE_INFINITY;
  readonly #alone: LateEvent[] = [];
  readonly #quarantined: LateEvent[] = [];

  constructor(rules: Policy) {
    this.#rules = rules;
    this.#gap = rules.gap as number;
    this.#history = new History(rules);
  }

  get versions(): Version[] {
    return [...this.#versions.values()].flat();
  }

  get lateEvents(): LateEvent[] {
    return [
      ...this.#quarantined,
      ...this.#alone,
      ...this.#sessions
        .filter((session) => !session.isReplaced)
        .flatMap(({ late, start, end }) => late.map((event) => ({ ...event, window: start, end }))),
    ];
  }

  /** R14: the valid first copies of all sealed sessions, and the refused rows that await a person in their own. */
  get restated(): Row[] {
    const until = (key: string | null) => this.#sealedUntil + aheadOf(this.#rules, key);
    return [
      ...this.#sessions
        .filter(({ isReplaced, shipped }) => !isReplaced && shipped !== undefined)
        .flatMap(({ rows }) => rows),
      ...this.#alone
        .filter(({ end, row }) => (end as number) <= until(this.#keyOf(row)))
        .map(({ row }) => row),
    ];
  }

  run(bound: number, visible: readonly Row[], log: readonly LogEntry[]): void {
    const news = visible
      .filter((row) => !this.#examined.has(row) && row.ingestedAt <= bound)
      .sort((a, b) => a.ingestedAt - b.ingestedAt);
    for (const row of news) this.#examined.add(row);
    const valid = news.filter((row) => row.eventTime <= row.ingestedAt + this.#rules.skew);
    for (const row of news.filter((row) => !valid.includes(row)))
      this.#quarantined.push({
        window: null,
        row,
        landing: 'quarantined',
        watermark: null,
        state: null,
        version: null,
      });
    this.#history.move(valid, log, bound, this.#frontier);

    const touched = new Map<Session, Set<string>>();
    const replaced = new Map<Session, string>();
    for (const instant of new Set(valid.map((row) => row.ingestedAt))) {
      const together = valid.filter((row) => row.ingestedAt === instant);
      for (const key of new Set(together.map((row) => this.#keyOf(row))))
        this.#join(
          together.filter((row) => this.#keyOf(row) === key),
          key,
          instant,
          touched,
          replaced,
        );
    }
    this.#sealedUntil = Math.max(this.#sealedUntil, this.#history.sealing(bound) ?? Number.NEGATIVE_INFINITY);
    this.#seal(this.#sealedUntil);
    for (const [session, cause] of replaced) this.#void(session, cause);
    for (const [session, causes] of touched) if (!session.isReplaced) this.#correct(session, causes);
    this.#frontier = Math.max(this.#frontier, bound);
  }

  /** Rows of one instant and key. */
  #join(
    rows: readonly Row[],
    key: string | null,
    instant: number,
    touched: Map<Session, Set<string>>,
    replaced: Map<Session, string>,
  ): void {
    const { policy } = this.#rules;
    const ahead = aheadOf(this.#rules, key);
    const shared = this.#history.sealing(instant) ?? Number.NEGATIVE_INFINITY;
    const combined = shared + ahead;
    const passed = Math.max(shared, this.#sealedUntil) + ahead;
    this.#seal(Math.max(shared, this.#sealedUntil));
    const own = (row: Row) => (this.#history.of(row) ?? Number.NEGATIVE_INFINITY) + ahead;
    const widest = Math.max(...rows.map((row) => latenessOf(this.#rules, row)));
    const here = () => this.#sessions.filter((session) => session.key === key && !session.isReplaced);
    const touches = (row: Row, { start, end }: { start: number; end: number }) =>
      start <= row.eventTime + this.#gap && end >= row.eventTime;
    const isCopy = (row: Row) =>
      here().some((session) => touches(row, session) && session.rows.some(({ id }) => id === row.id)) ||
      this.#alone.some(
        (event) =>
          this.#keyOf(event.row) === key &&
          event.row.id === row.id &&
          Math.abs(event.row.eventTime - row.eventTime) <= this.#gap,
      );
    let joining = rows.filter((row) => !isCopy(row));
    const refused: Row[] = [];
    const isLive = (session: Session) => session.end + widest > combined;
    let groups: Group[] = [];
    for (;;) {
      groups = this.#groups(joining, here().filter(isLive), touches);
      const out = groups.flatMap((group) =>
        group.rows.filter((row) => own(row) >= group.end + latenessOf(this.#rules, row)),
      );
      if (out.length === 0) break;
      refused.push(...out);
      joining = joining.filter((row) => !out.includes(row));
    }
    const cause = instant < this.#frontier ? 'straggler' : 'late_firing';
    for (const group of groups) {
      const session = this.#settle(group, key, passed, cause, replaced);
      for (const row of group.rows) {
        session.rows.push(row);
        const landing = own(row) >= group.end ? 'late_firing' : 'open';
        if (landing !== 'open' || session.shipped !== undefined)
          this.#keep(session, row, landing, own(row), touched);
      }
      this.#dropCopies(session, touched, cause);
    }
    if (policy === 'grace') {
      for (const row of refused) {
        this.#alone.push({
          window: row.eventTime,
          end: row.eventTime + this.#gap,
          row,
          landing: 'side_output',
          watermark: finite(own(row)),
          state: 'pending',
          version: null,
        });
      }
      return;
    }
    for (const group of this.#groups(refused, here(), touches)) {
      const session = this.#settle(group, key, passed, 'refused', replaced);
      for (const row of group.rows) {
        session.rows.push(row);
        this.#keep(session, row, 'side_output', own(row), touched);
      }
      this.#dropCopies(session, touched, 'refused');
    }
  }

  /** Of rows with one id that are in one session now, the first ingested counts; the others are copies, and no late events. */
  #dropCopies(session: Session, touched: Map<Session, Set<string>>, cause: string): void {
    const first = (row: Row) =>
      session.rows.every((other) => other.id !== row.id || other.ingestedAt >= row.ingestedAt);
    const kept = session.rows.filter(first);
    if (kept.length === session.rows.length) return;
    session.rows = kept;
    session.late = session.late.filter(({ row }) => kept.includes(row));
    if (session.shipped !== undefined && !session.late.some(({ version }) => version === null))
      touched.set(session, new Set([cause]));
  }

  /** Rows that are within a gap of each other, or touch the same session. */
  #groups(
    rows: readonly Row[],
    sessions: readonly Session[],
    touches: (row: Row, session: Session) => boolean,
  ): Group[] {
    const groups: Group[] = [];
    for (const row of rows) {
      const mine = sessions.filter((session) => touches(row, session));
      const met = groups.filter(
        (group) =>
          group.sessions.some((session) => mine.includes(session)) ||
          group.rows.some((other) => Math.abs(other.eventTime - row.eventTime) <= this.#gap),
      );
      for (const group of met) groups.splice(groups.indexOf(group), 1);
      const all = [...new Set([...mine, ...met.flatMap((group) => group.sessions)])];
      const members = [row, ...met.flatMap((group) => group.rows)];
      groups.push({
        rows: members,
        sessions: all,
        start: Math.min(...members.map((r) => r.eventTime), ...all.map((s) => s.start)),
        end: Math.max(...members.map((r) => r.eventTime + this.#gap), ...all.map((s) => s.end)),
      });
    }
    return groups;
  }

  /** The session that a group's rows join: the one it has, where that may change or need not; else a new one. */
  #settle(
    group: Group,
    key: string | null,
    passed: number,
    cause: string,
    replaced: Map<Session, string>,
  ): Session {
    const [only] = group.sessions;
    if (group.sessions.length === 1 && only) {
      const stays = only.start === group.start && only.end === group.end;
      if (stays || only.shipped === undefined) {
        only.start = group.start;
        only.end = group.end;
        return only;
      }
    }
    const isPast = group.end <= passed;
    const late = group.sessions.flatMap((session) => session.late);
    for (const event of late) {
      // version 1 of the new session counts it; or the version of this run, which is set when it is appended
      event.state = 'included';
      event.version = isPast ? null : 1;
    }
    const session: Session = {
      key,
      start: group.start,
      end: group.end,
      rows: group.sessions.flatMap((old) => old.rows),
      shipped: isPast ? [] : undefined,
      isReplaced: false,
      late,
    };
    for (const old of group.sessions) {
      old.isReplaced = true;
      if (old.shipped !== undefined) replaced.set(old, cause);
    }
    this.#sessions.push(session);
    return session;
  }

  #keep(
    session: Session,
    row: Row,
    landing: LateEvent['landing'],
    watermark: number,
    touched: Map<Session, Set<string>>,
  ): void {
    session.late.push({
      window: null,
      row,
      landing,
      watermark: finite(watermark),
      state: 'included',
      version: session.shipped === undefined ? 1 : null,
    });
    if (session.shipped === undefined) return;
    touched.set(session, new Set());
  }

  #seal(until: number): void {
    for (const session of this.#sessions) {
      if (session.isReplaced || session.shipped !== undefined) continue;
      if (session.end > until + aheadOf(this.#rules, session.key)) continue;
      session.shipped = [...session.rows];
      this.#append(session, 1, session.rows, '');
    }
  }

  #correct(session: Session, causes: Set<string>): void {
    const versions = this.#versionsOf(session);
    const number = (versions.at(-1)?.version ?? 1) + 1;
    for (const event of session.late) {
      if (event.version !== null) continue;
      event.version = number;
      causes.add(
        { open: 'straggler', late_firing: 'late_firing', side_output: 'refused', quarantined: '' }[
          event.landing
        ],
      );
    }
    this.#append(session, number, session.rows, [...causes].sort().join('+'));
  }

  #void(session: Session, cause: string): void {
    const last = this.#versionsOf(session).at(-1);
    if (last) this.#append(session, last.version + 1, [], cause);
  }

  #versionsOf({ start, end, key }: Session): Version[] {
    const name = `${start} ${end} ${key === null ? 'null' : `'${key}`}`;
    const found = this.#versions.get(name) ?? [];
    this.#versions.set(name, found);
    return found;
  }

  #append(session: Session, version: number, rows: readonly Row[], causes: string): void {
    this.#versionsOf(session).push({
      window: session.start,
      end: session.end,
      key: session.key,
      version,
      count: rows.length,
      sum: rows.length === 0 ? null : rows.reduce((sum, row) => sum + row.amount, 0),
      causes,
    });
  }

  #keyOf(row: Row): string | null {
    return this.#rules.keyed ? row.key : null;
  }
}

interface Group {
  readonly rows: readonly Row[];
  readonly sessions: readonly Session[];
  readonly start: number;
  readonly end: number;
}

const finite = (watermark: number) => (Number.isFinite(watermark) ? watermark : null);
