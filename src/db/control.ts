/** The control tables as Kysely sees them. Numbers that may pass 2^53, and every time, are text (R13). */
import {
  type Generated,
  type JSONColumnType,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
} from 'kysely';

export interface ControlTables {
  definition: DefinitionTable;
  rollup: RollupTable;
  run: RunTable;
  ingestion_partition: IngestionPartitionTable;
  proposal: ProposalTable;
}

/** What an execution of the job was asked to do. */
export type RunVerb =
  | 'run'
  | 'publish'
  | 'baseline'
  | 'amend'
  | 'release'
  | 'approve'
  | 'reject'
  | 'restate'
  | 'waive'
  | 'close'
  | 'reopen';

interface DefinitionTable {
  fingerprint: string;
  rollup: string;
  definition: JSONColumnType<Record<string, unknown>>;
  first_applied_at: string;
}

interface RollupTable {
  rollup_id: Generated<number>;
  name: string;
  gold_schema: string;
  gold_name: string;
  definition_fingerprint: string;
  seal_by: 'errata' | 'stream' | 'table';
  allowed_lateness: string;
  complete_from: string;
  complete_from_source: 'setting' | 'partition' | 'first_ingestion' | 'empty';
  frontier: string | null;
  sealed_until: string | null;
  settled_until: Generated<string>;
  last_stamp: Generated<string>;
  system_identifier: string | null;
  database_id: string | null;
  created_at: string;
}

interface RunTable {
  run_id: Generated<string>;
  rollup_id: number;
  verb: RunVerb;
  outcome: 'running' | 'done' | 'attention' | 'failed';
  started_at: string;
  finished_at: string | null;
  bound: string | null;
  snapshot: string | null;
  publishing_transaction: string | null;
  stamp: string | null;
  actor: string | null;
  reason: string | null;
  db_role: Generated<string>;
  counts: JSONColumnType<Record<string, string | number>>;
  stage_milliseconds: JSONColumnType<Record<string, number>>;
  failure: JSONColumnType<Record<string, unknown>> | null;
  versions_hashed: string | null;
}

interface IngestionPartitionTable {
  rollup_id: number;
  relation_id: number;
  relation: string;
  bounds: string | null;
  horizon: string | null;
  seen: string;
  bound: string | null;
  deferred_from: string | null;
  activity: string | null;
  rows_examined: string;
  event_time_from: string | null;
  event_time_to: string | null;
  event_id_from: string | null;
  event_id_to: string | null;
  first_examined_at: string | null;
  last_examined_at: string | null;
  gone_at: string | null;
}

interface ProposalTable {
  proposal_id: Generated<string>;
  rollup_id: number;
  run_id: string;
  window_start: string;
  window_end: string;
  state: Generated<'open' | 'approved' | 'rejected' | 'stale'>;
}

export type Control = Kysely<ControlTables>;

/**
 * Kysely's lock for migrations is one of the session: behind a transaction pooler it would stay on a connection that others
 * use. Whoever installs holds a lock of the transaction instead (`install.ts`).
 */
class LocklessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class PoolerDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new LocklessAdapter();
  }
}

/** `schema` is where the control tables are; every query that is built, not written, goes there. */
export function controlOf(pool: PostgresPool, schema: string): Control {
  return new Kysely<ControlTables>({ dialect: new PoolerDialect({ pool }) }).withSchema(schema);
}
