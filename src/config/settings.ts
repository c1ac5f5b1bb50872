/**
 * The parsed settings: what `errata.yaml` says, checked, with every default filled in. Everything behind
 * `readSettings` sees only these; nothing here has been looked up in a database.
 */
export interface Settings {
  /** A `postgres://` URL. Undefined: the PG* variables if any is set, else the embedded PostgreSQL. */
  readonly database: string | undefined;
  /** The schema of the control tables; default `errata`. */
  readonly schema: string;
  /** In the order of the file; at least one; names and gold tables are unique. */
  readonly rollups: readonly RollupSettings[];
  readonly periods: PeriodSettings;
  /** Left out: whoever runs `migrate` owns what it makes, and nothing is granted. */
  readonly roles?: RoleSettings | undefined;
  /** Of `migrate`; each rollup has them too, for its runs. */
  readonly limits: LimitSettings;
  /** Undefined: nobody is told by POST. */
  readonly notices: NoticeSettings | undefined;
  /** The path of the file, as it was given to `readSettings`. */
  readonly file: string;
}

/** How long a transaction of Errata's may wait for a lock, and a statement may take. */
export interface LimitSettings {
  /** Default 5 seconds; 0: no limit. */
  readonly lockTimeout: Duration;
  /** Undefined: as the database or the role says. */
  readonly statementTimeout: Duration | undefined;
  /** How long runs that changed nothing stay on record; at least a day, default 90 days. */
  readonly keep: Duration;
}

/** Who is told, by POST, which keyed windows a run changed. */
export interface NoticeSettings {
  /** It may hold a token: never printed. */
  readonly webhook: string;
  readonly secret: string | undefined;
  readonly timeout: Duration;
  /** How long those that were delivered stay in the outbox. */
  readonly keep: Duration;
}

/** Calendar months in a named time zone, or a table of the user's; the members are its column names (R12). */
export type PeriodSettings =
  | { readonly calendar: 'month'; readonly timeZone: string }
  | {
      readonly calendar: 'table';
      /** Of the calendar windows; UTC where there are none. */
      readonly timeZone: string;
      readonly table: TableName;
      readonly period: string;
      readonly start: string;
      readonly end: string;
    };

/** Database roles as the catalog holds their names, each another one. */
export interface RoleSettings {
  readonly job?: string | undefined;
  readonly stream?: string | undefined;
  readonly reader?: string | undefined;
  readonly auditor?: string | undefined;
  readonly position: Position;
}

/** A name as the catalog holds it: unquoted, case-sensitive, each part 1 to 63 bytes of UTF-8. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

/** An exact span. `text` is as written in the file, for messages. Never negative, below 2^63 microseconds. */
export interface Duration {
  readonly microseconds: bigint;
  readonly text: string;
}

/** Where a setting stands in the file; lines count from 1. */
export interface Position {
  readonly line: number;
}

export interface RollupSettings {
  /** Matches `^[a-z_][a-z0-9_]*$`. */
  readonly name: string;
  /** Its name part is at most 48 bytes, so that `_reconciliation` and the like still fit. */
  readonly gold: TableName;
  readonly bronze: BronzeSettings;
  readonly window: WindowSettings;
  /** Bronze columns, unique; empty: one total a window. */
  readonly key: readonly string[];
  /** In the order of the file; at least one. */
  readonly measures: readonly MeasureSettings[];
  readonly watermark: WatermarkSettings;
  /** Default 0 (R3). */
  readonly allowedLateness: Duration;
  /** A bronze column of type interval in which each row carries its own; where it says nothing, `allowedLateness` holds. */
  readonly allowedLatenessColumn?: string | undefined;
  readonly seal: SealSettings;
  readonly publish: PublishSettings;
  /** Whether the measures of closed ingestion partitions are kept (R20). */
  readonly partials: boolean;
  readonly schedule?: ScheduleSettings | undefined;
  /** Undefined: there is no threshold. */
  readonly alerts?: AlertSettings | undefined;
  readonly limits: LimitSettings;
  readonly notices: NoticeSettings | undefined;
  readonly periods: PeriodSettings;
  /** Of the rollup's own key in the file. */
  readonly position: Position;
}

export interface BronzeSettings {
  readonly table: TableName;
  /** The columns that identify a row (R5); empty exactly where `identity` is `unique_rows`. */
  readonly eventId: readonly string[];
  /** `event_id`: a declared event id; `columns`: `identified_by`; `unique_rows`: every row is an event of its own. */
  readonly identity: 'event_id' | 'columns' | 'unique_rows';
  readonly eventTime: string;
  readonly ingestedAt: string;
  /** Where there is none, `ingestedAt` serves. */
  readonly arrivedAt?: string | undefined;
  readonly sourcePartition?: string | undefined;
  /** SQL predicate over a bronze row; true: the row moves the watermark and counts nowhere (R2). */
  readonly heartbeat?: string | undefined;
  /** The zone of time columns of type `timestamp without time zone`. */
  readonly timeZone?: string | undefined;
  /** `YYYY-MM-DD`, or an instant `YYYY-MM-DDThh:mm[:ss[.ffffff]]` with `Z` or an offset (R15). */
  readonly completeFrom?: string | undefined;
  /** A trigger on bronze notes deleted and changed rows. */
  readonly trackChanges?: boolean | undefined;
  /** What a row that is missing from bronze means: somebody corrected it away (left out), or its time was up (R15). */
  readonly deletes?: 'corrective' | 'retention' | undefined;
}

export type CalendarUnit = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

/**
 * R1. `origin` is a window border: for `tumbling` and `hopping` a date (midnight UTC) or an instant with an offset, for
 * `calendar` a date or a local date and time of its zone. `offset` shifts every border forwards.
 */
export type WindowSettings =
  | {
      readonly kind: 'tumbling';
      /** Above 0. */
      readonly size: Duration;
      readonly origin?: string | undefined;
      readonly offset?: Duration | undefined;
    }
  | {
      readonly kind: 'hopping';
      readonly size: Duration;
      /** Above 0; may exceed `size`, which leaves gaps. */
      readonly every: Duration;
      readonly origin?: string | undefined;
      readonly offset?: Duration | undefined;
    }
  | {
      readonly kind: 'calendar';
      /** 1 to 10,000. */
      readonly count: number;
      readonly unit: CalendarUnit;
      readonly timeZone: string;
      readonly origin?: string | undefined;
      readonly offset?: Duration | undefined;
    }
  | {
      readonly kind: 'session';
      /** Above 0. */
      readonly gap: Duration;
    };

export interface MeasureSettings {
  /** Matches `^[a-z_][a-z0-9_]*$`, at most 40 bytes. */
  readonly name: string;
  /** An SQL aggregate over bronze rows, as written. */
  readonly expression: string;
  /** Decimal text, not negative: a version is appended only if the measure differs by more (R9). */
  readonly tolerance?: string | undefined;
  /** Undefined: the database's types decide (R14). */
  readonly additive?: boolean | undefined;
  readonly position?: Position | undefined;
}

/** R2. */
export interface WatermarkSettings {
  readonly strategy: 'bounded' | 'fixed_delay' | 'recorded' | 'external';
  /** Always there for `bounded` and `fixed_delay`, never for `external`; for `recorded` the stream's own, to be compared. */
  readonly delay?: Duration | undefined;
  /** A bronze column of type interval in which each row carries its own delay; where it says nothing, `delay` holds. */
  readonly delayColumn?: string | undefined;
  /** Delays and latenesses by key or source partition that differ from those of the rollup. */
  readonly overrides?: OverrideSettings | undefined;
  /** Undefined: a silent source partition is never idle. */
  readonly idleAfter?: Duration | undefined;
  /** Default 1 hour; undefined: no limit (R4). */
  readonly maxFutureSkew: Duration | undefined;
  /** Default `min`. */
  readonly combine: 'min' | 'max' | 'own';
  /** Declared, in the order of the file; `since` undefined: from bronze's first row. Left out: found as they appear. */
  readonly sourcePartitions?: readonly SourcePartitionSettings[] | undefined;
  /** `recorded` only. Undefined: the log table that Errata makes for the rollup. */
  readonly log?: WatermarkLogSettings | undefined;
  /** `recorded` only; default 0: a run does not wait for the log (R6). */
  readonly hold: Duration;
  /** The stream's own table of refused rows. Always there for `external`; for `recorded` to be compared. */
  readonly refused?: RefusedSettings | undefined;
}

/** The stream's own table of refused rows, one row a refusal; the members are its column names. */
export interface RefusedSettings {
  readonly table: TableName;
  /** As many as identify a row of bronze, in the same order; default: the names there. */
  readonly eventId: readonly string[];
  /** Undefined: the id alone finds the row. */
  readonly eventTime?: string | undefined;
  /** Neither is there: an entry refuses its row in all its windows. */
  readonly windowStart?: string | undefined;
  readonly windowEnd?: string | undefined;
  readonly watermark?: string | undefined;
  /** When the row was refused, on the clock of `ingested_at`. Undefined: when a run first sees the entry. */
  readonly refusedAt?: string | undefined;
}

/** A table of the user's, one row a key or source partition; NULL in it, or no row: the rollup's own. */
export interface OverrideSettings {
  readonly table: TableName;
  /** What a row of the table goes by, in the order of the file; at least one. */
  readonly by: readonly OverrideKey[];
  /** Its columns of type interval; at least one of the two is there. */
  readonly delay?: string | undefined;
  readonly allowedLateness?: string | undefined;
}

export interface OverrideKey {
  /** A key column of the rollup, or `source_partition`, which then stands alone. */
  readonly name: string;
  /** The column of the table. */
  readonly column: string;
}

export interface SourcePartitionSettings {
  /** As its column casts to text. */
  readonly name: string;
  /** A date or an instant, as `completeFrom`. */
  readonly since?: string | undefined;
}

/** The stream's log of watermarks: one row a source partition and entry; the members are its column names. */
export interface WatermarkLogSettings {
  readonly table: TableName;
  /** When the entry was written, on the clock of `ingested_at`; default `at`. */
  readonly at: string;
  /** Default `source_partition`. */
  readonly sourcePartition: string;
  /** Default `watermark`; NULL in it: an entry without a value. */
  readonly watermark: string;
  /** Default `idle`. */
  readonly idle: string;
  /** A counter of the rows that the stream dropped, cumulative; undefined: the table has none. */
  readonly dropped?: string | undefined;
}

/** Who writes version 1, and how much more of `ingested_at` to wait for it (R8); `after` defaults to 0. */
export type SealSettings =
  | { readonly by: 'errata'; readonly after: Duration }
  | { readonly by: 'stream'; readonly after: Duration }
  | { readonly by: 'table'; readonly table: TableName; readonly after: Duration };

/** R10. */
export interface PublishSettings {
  readonly policy: 'auto' | 'grace' | 'review';
  /** By measure name; empty: no thresholds. */
  readonly reviewBeyond: Readonly<Record<string, Threshold>>;
  /** A window that ended longer ago than this is proposed, not published. Undefined: no horizon. */
  readonly horizon?: Duration | undefined;
  /** Undefined: windows may be restated. */
  readonly restate?: 'forbidden' | undefined;
}

/** A difference that exceeds either is proposed. Decimal text as written; `relative` is a percentage. */
export interface Threshold {
  readonly absolute?: string | undefined;
  readonly relative?: string | undefined;
}

export interface ScheduleSettings {
  /** Five fields. */
  readonly cron: string;
  /** Default UTC. */
  readonly timeZone: string;
}

/** Thresholds by what is watched; each of the file's holds for a rollup that has none of its own. */
export interface AlertSettings {
  /** Seconds since the last run that succeeded. */
  readonly stale?: Levels | undefined;
  /** Seconds for which the oldest keyed window has waited for a run. */
  readonly backlog?: Levels | undefined;
  /** Keyed windows that the last sweep of `errata reconcile` could not explain. */
  readonly unexplained?: Levels | undefined;
  /** The part of the rows examined in the last day that was refused, from 0 to 1. */
  readonly lateness?: Levels | undefined;
}

export type AlertName = keyof AlertSettings;

/** Passed when the figure is greater; at least one of the two is there, and `error` is not the smaller. */
export interface Levels {
  readonly warn?: Level | undefined;
  readonly error?: Level | undefined;
}

export interface Level {
  readonly value: number;
  /** As written. */
  readonly text: string;
}
