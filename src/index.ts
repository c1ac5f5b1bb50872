/** Errata as a library: what the verbs `migrate`, `plan`, `run`, `explain` and `reconcile` do, with typed results. */
export { parseSettings, readSettings } from './config/read-settings.ts';
export type { Settings } from './config/settings.ts';
export {
  createErrata,
  type Errata,
  type ErrataOptions,
  type Logger,
  type PlanOptions,
  type ReconcileRequest,
  type RunRequest,
} from './errata.ts';
export { Failure } from './failure.ts';
export type { MigratedRollup } from './install/migrated.ts';
export type { RollupResult } from './output/rollup-result.ts';
export type { RunReport } from './pipeline/report.ts';
export type { Answer } from './report/explain/ask.ts';
export type { Explanation } from './report/explain/explain.ts';
export type { Reconciliation } from './report/reconcile/reconcile.ts';
