/** A rollup as the database and the settings together describe it: everything that its SQL needs to know. */
import type { RollupSettings } from '../config/settings.ts';

export interface Column {
  readonly name: string;
  /** As `format_type` writes it. */
  readonly type: string;
}

export interface Measure extends Column {
  readonly expression: string;
  /** A count or a sum of an exact type, or declared so: parts add up to the whole (R14). */
  readonly isAdditive: boolean;
  /** Values can be subtracted. */
  readonly isNumeric: boolean;
  /** Exactly `count(*)`: tells the event count of a version that a stream wrote. */
  readonly isCountOfRows: boolean;
  /** The aggregate that makes the whole of partials; undefined where none does. */
  readonly mergedBy: 'sum' | 'min' | 'max' | undefined;
  readonly tolerance: string | undefined;
}

/** Delays and latenesses by key or source partition, from a table of the user's. */
export interface Overrides {
  /** What they go by: key columns, or `source_partition` alone; with the types they have in the ledger. */
  readonly by: readonly Column[];
  readonly isByKey: boolean;
  readonly hasDelay: boolean;
  readonly hasLateness: boolean;
}

export interface Rollup {
  readonly settings: RollupSettings;
  /** The schema of the control tables. */
  readonly schema: string;
  /** 0 until the rollup is migrated. */
  readonly id: number;
  /** The oid of bronze. */
  readonly relationId: string;
  /** A table or its partitions have xmin; a view or a foreign table has not, and gets the weaker guarantee (R16). */
  readonly hasRowAge: boolean;
  /** Bronze can be locked against losing a partition: by a role that may read the table, and not only some columns. */
  readonly isLockable: boolean;
  readonly keys: readonly Column[];
  readonly ids: readonly Column[];
  readonly measures: readonly Measure[];
  /** The bronze columns that measures use. */
  readonly measured: readonly Column[];
  /** All bronze columns that the pipeline reads by their own name, each once. */
  readonly columns: readonly Column[];
  readonly times: {
    readonly eventTime: Column;
    readonly ingestedAt: Column;
    readonly arrivedAt: Column | undefined;
  };
  readonly overrides: Overrides | undefined;
}
