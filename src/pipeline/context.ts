/** What the stages of one run share: fixed before anything is read, and what each stage leaves to the next. */
import type { Partition } from '../catalog/partitions.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupStatements } from '../catalog/statements.ts';
import type { RunVerb } from '../db/control.ts';
import type { ControlTransaction } from '../db/transaction.ts';

/** All instants are text with microseconds, in UTC; they never become a JavaScript date (R13). */
export interface RunContext {
  readonly transaction: ControlTransaction;
  readonly rollup: Rollup;
  readonly statements: RollupStatements;
  readonly runId: string;
  readonly verb: RunVerb;
  /** Rows ingested up to here are examined; rows before it move the watermark that seals. */
  readonly bound: string;
  /** The greatest bound of earlier runs; null before the first. */
  readonly frontier: string | null;
  /** The watermark that sealed in earlier runs; null before the first seal. */
  readonly sealedBefore: string | null;
  readonly completeFrom: string;
  /** false: bronze was empty when the rollup was migrated, and no run has found a row since. */
  readonly isCompleteFromKnown: boolean;
  readonly fingerprint: string;
  readonly actor: string | null;
  readonly reason: string | null;
  /** Reads every ingestion partition, whatever its activity says. */
  readonly readAll: boolean;
  readonly snapshot: Snapshot;
  /** The cluster is the one that the last run saw, so transaction numbers can be compared. */
  readonly sameCluster: boolean;
  /** And the database is the one that it saw: then relations are told by their oids. */
  readonly sameDatabase: boolean;
  readonly maxWindows: number | null;
  /** A person named the keyed windows to recompute, in pg_temp.errata_asked: no others are. */
  readonly isAsked: boolean;
}

/** Where the run's snapshot stands in the order of transactions (R16). */
export interface Snapshot {
  /** Oldest transaction still running: rows of it and of later ones may still appear. 64 bits, as text. */
  readonly horizon: string;
  readonly horizon_age: number;
  /** A later one than the oldest may have ended: then rows of it are visible. */
  readonly has_ended_later: boolean;
  /** The 64-bit number to which `age()` counts back within this transaction. */
  readonly transaction: string;
}

/** A partition that may hold rows which no run has examined. */
export interface Reading {
  readonly partition: Partition;
  readonly horizonAge: number;
  readonly seen: string;
  readonly boundBefore: string | null;
  summary: ScanSummary;
}

/** Between which ids those of a partition lie, as text. */
export interface IdSpan {
  readonly event_id_from: string;
  readonly event_id_to: string;
}

export interface ScanSummary {
  readonly examined: string;
  readonly quarantined: string;
  readonly deferred_from: string | null;
  readonly oldest_ingested_at: string | null;
  /** The first instant, not behind the frontier, of a row that may move the watermark. */
  readonly first_moving: string | null;
  readonly event_time_from: string | null;
  readonly event_time_to: string | null;
  readonly seen: string;
}

/** The windows that this run seals: where they start, half-open; equal where it seals none. */
export interface Sealing {
  readonly from: string;
  readonly to: string;
  /** End of the last of those windows: beyond `to` where windows overlap. */
  readonly eventsTo: string;
  /** The watermark that seals now; null while there is none. */
  readonly until: string | null;
  /** Earliest ingestion of a row of those windows; null where that cannot be known. */
  readonly ingestedFrom: string | null;
  /** Ingestion partitions that are gone and held rows of the windows to seal; null: nothing stands in the way. */
  readonly blockedBy: string | null;
}
