/** A person's word on proposals: approved they are versions, rejected they are set aside, each in one run (R10). */

import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { execute, prepare } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunContext } from '../pipeline/context.ts';
import type { RunReport } from '../pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../pipeline/run.ts';
import { askTogether, hasSessions } from '../pipeline/sessions.ts';
import { readUnanswered, refusal } from './unanswered.ts';

export interface Decision {
  readonly actor: string;
  readonly reason: string;
  /** The run that made them. */
  readonly proposedBy?: string | undefined;
  /** Windows that start in here, half-open, instants; left out: no limit. */
  readonly windowFrom?: string | undefined;
  readonly windowTo?: string | undefined;
  readonly key?: Readonly<Record<string, string | null>> | undefined;
}

/** A proposal that an approval was about, and that bronze does not bear out any more. */
export interface Stale {
  readonly proposal_id: string;
  readonly window_start: string;
  readonly window_end: string;
  readonly key: Readonly<Record<string, string | null>>;
  readonly proposed: Readonly<Record<string, string | null>>;
  /** Null: it cannot be recomputed now, as `why` says; then the proposal stays open. */
  readonly now: Readonly<Record<string, string | null>> | null;
  readonly base_version: number;
  readonly old_version: number | null;
  readonly why: string | null;
  /** Ids of the first five events that came since it was proposed. */
  readonly events: readonly string[] | null;
}

export type ApprovalReport = RunReport & { readonly approved: number; readonly stale: readonly Stale[] };
export type RejectionReport = RunReport & { readonly rejected: number; readonly waived: number };

type Perform = typeof runRollup;

/**
 * Recomputes each window and publishes it if it still is what was proposed; of what is not, a new proposal is made.
 * @param perform `planRollup` for what would become of it. @throws Failure, exit code 2, if no open proposal fits.
 */
export async function approveProposals(
  control: Control,
  rollup: Rollup,
  decision: Decision,
  options: SpineOptions = {},
  perform: Perform = runRollup,
): Promise<ApprovalReport> {
  let asked = 0;
  let stale: readonly Stale[] = [];
  const report = await perform(control, rollup, {
    ...options,
    verb: 'approve',
    actor: decision.actor,
    reason: decision.reason,
    isAsked: true,
    before: async (run) => {
      asked = await askProposals(run, decision);
    },
    judged: async (run) => {
      const { rows } = await execute<Stale>(
        run.transaction,
        prepare('report/stale.sql', bindingsOf(rollup)),
        { complete_from: run.completeFrom },
      );
      stale = rows;
    },
  });
  return { ...report, approved: asked - stale.length, stale };
}

/**
 * The late events of each proposal are waived; of what else differs the value is kept, and not proposed again while
 * bronze gives it. @throws Failure, exit code 2, if no open proposal fits, and 3 if a window cannot be recomputed.
 */
export async function rejectProposals(
  control: Control,
  rollup: Rollup,
  decision: Decision,
  options: SpineOptions = {},
  perform: Perform = runRollup,
): Promise<RejectionReport> {
  let rejected = 0;
  let waived = 0;
  const report = await perform(control, rollup, {
    ...options,
    verb: 'reject',
    actor: decision.actor,
    reason: decision.reason,
    isAsked: true,
    atFrontier: true,
    before: async (run) => {
      rejected = await askProposals(run, decision);
      const { count } = await execute(run.transaction, run.statements.reject, {
        run_id: run.runId,
        actor: decision.actor,
        reason: decision.reason,
      });
      waived = count;
    },
    judged: async (run) => {
      const unanswered = await readUnanswered(run);
      const windows = unanswered.filter(({ obstacle }) => obstacle !== 'proposed');
      if (windows.length > 0) throw refusal(windows, 'rejected', rollup.settings.name);
    },
  });
  return { ...report, rejected, waived };
}

export const planApproval = (control: Control, rollup: Rollup, decision: Decision, options?: SpineOptions) =>
  approveProposals(control, rollup, decision, options, planRollup);

export const planRejection = (control: Control, rollup: Rollup, decision: Decision, options?: SpineOptions) =>
  rejectProposals(control, rollup, decision, options, planRollup);

async function askProposals(run: RunContext, decision: Decision): Promise<number> {
  const { count } = await execute(run.transaction, run.statements.askedProposals, {
    rollup_id: run.rollup.id,
    proposed_by: decision.proposedBy ?? null,
    window_from: decision.windowFrom ?? null,
    window_to: decision.windowTo ?? null,
    key: decision.key === undefined ? null : JSON.stringify(decision.key),
  });
  if (count > 0) return count + (hasSessions(run.rollup) ? await askTogether(run) : 0);
  const { name } = run.rollup.settings;
  throw new Failure(`rollup "${name}" has no open proposal that fits`, {
    detail: 'nothing was decided and nothing published',
    hint: `\`errata review ${name}\` lists the open proposals`,
    exitCode: 2,
  });
}
