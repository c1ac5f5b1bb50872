/**
 * Each tick looks at every rollup with a schedule. A tick is a nudge and says nothing of what is due, so one that comes late,
 * twice or never is no harm. A rollup that is being worked on is passed over; others do not wait for it.
 */
import type { Logger } from 'pino';
import type { RollupSettings, ScheduleSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { deliverNotices } from '../notices/deliver.ts';
import { type Attempt, attempt } from './attempt.ts';

export interface LoopOptions {
  readonly control: Control;
  readonly settings: Settings;
  readonly logger: Logger;
  /** From here on no run begins. */
  readonly stop: AbortSignal;
  /** Statements under way are being cancelled. */
  readonly cancelled: AbortSignal;
  /** Each holds a connection while it works. */
  readonly runsAtOnce?: number;
}

export type Scheduled = RollupSettings & { readonly schedule: ScheduleSettings };

export function scheduledRollups({ rollups }: Pick<Settings, 'rollups'>): Scheduled[] {
  return rollups.filter((rollup): rollup is Scheduled => rollup.schedule !== undefined);
}

/** The pool has four connections: two are left for looking, notices and pages. */
const defaultRunsAtOnce = 2;

export class Loop {
  readonly #options: LoopOptions;
  readonly #rollups: readonly Scheduled[];
  readonly #underWay = new Map<string, Promise<void>>();
  #notices: Promise<void> | undefined;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#rollups = scheduledRollups(options.settings);
    this.#free = options.runsAtOnce ?? defaultRunsAtOnce;
  }

  /**
   * @param now stands in for the database's clock.
   * @returns when everything that this tick began is over; never rejects.
   */
  async tick(now?: string): Promise<void> {
    if (this.#options.stop.aborted) return;
    const begun = this.#rollups
      .filter(({ name }) => !this.#underWay.has(name))
      .map((rollup) => {
        const work = this.#look(rollup, now).finally(() => this.#underWay.delete(rollup.name));
        this.#underWay.set(rollup.name, work);
        return work;
      });
    await Promise.all(begun);
    await this.#tellOthers();
  }

  /** When nothing is under way any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#underWay.values(), this.#notices]);
  }

  async #look(rollup: Scheduled, now: string | undefined): Promise<void> {
    const { control, settings, logger, stop, cancelled } = this.#options;
    const own = logger.child({ rollup: rollup.name });
    await this.#takeTurn();
    try {
      const done = await attempt(control, settings, rollup, {
        now,
        stop,
        cancelled,
        onStage: (stage, detail) => own.debug({ stage, detail }, 'stage starts'),
      });
      report(own, done);
    } catch (error) {
      if (!cancelled.aborted)
        own.error({ err: error }, 'it cannot be told what is due; the next tick asks again');
    } finally {
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  /** First come, first served. */
  async #takeTurn(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free--;
  }

  /** A notice that does not arrive waits in the outbox, and a later tick tries again. */
  async #tellOthers(): Promise<void> {
    const { control, settings, logger, stop, cancelled } = this.#options;
    if (settings.notices === undefined || stop.aborted || this.#notices) return;
    this.#notices = deliverNotices(control, settings, stop)
      .then(({ failure, left }) => {
        if (failure !== null) logger.warn({ failure, left }, 'a notice did not arrive; it is tried again');
      })
      .catch((error) => {
        if (!cancelled.aborted) logger.error({ err: error }, 'the notices could not be read');
      })
      .finally(() => {
        this.#notices = undefined;
      });
    await this.#notices;
  }
}

function report(logger: Logger, done: Attempt): void {
  switch (done.outcome) {
    case 'done':
    case 'attention': {
      const { runId, bound, stamp, watermark, counts, stageMilliseconds } = done.report;
      const line = {
        outcome: done.outcome,
        due_at: done.moments.lastDueAt,
        missed: done.moments.missed,
        run_id: runId,
        bound,
        stamp,
        watermark,
        counts,
        stage_milliseconds: stageMilliseconds,
      };
      if (done.outcome === 'attention') logger.warn(line, 'rollup done; something needs a person');
      else logger.info(line, 'rollup done');
      return;
    }
    case 'failed':
      logger.error({ outcome: done.outcome, err: done.failure, ...done.backOff }, done.failure.message);
      return;
    case 'unknown':
      logger.warn('the database has no such rollup, or it was dropped; run `errata migrate`');
      return;
    default:
      logger.debug({ outcome: done.outcome }, done.outcome);
  }
}
