/** Recomputes every hash of a rollup's chain and says what is not as it was published (R21). */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import type { KeyedWindow } from '../keyed-window.ts';
import type { DigestEntry } from './digest.ts';
import { countWaiting, type Link, readLink } from './evidence.ts';

/** A version whose row is not what was hashed, has gone, or was never hashed. */
export interface WrongVersion extends KeyedWindow {
  readonly what: 'altered' | 'missing' | 'added';
  readonly version: number;
  /** The run whose link covers it; null: none does. */
  readonly run_id: string | null;
  readonly found: string;
}

/** `record`: what the run says of itself; `rows`: the hashes of its versions; `previous`: the link before it. */
export interface WrongLink {
  readonly run_id: string;
  readonly fault: 'record' | 'rows' | 'previous' | 'no_link';
  /** By the run's record, and by the hashes that are there. */
  readonly versions_hashed: string;
  readonly versions: string;
  readonly found: string;
}

export interface GuardGap {
  readonly relation: string;
  readonly trigger_name: string | null;
  readonly state: string;
}

export interface Verification {
  readonly rollup: string;
  /** Everything is as it was published, and the guard is in force. */
  readonly holds: boolean;
  /** The head; null: no run has hashed anything yet. */
  readonly link: Link | null;
  readonly waiting: string;
  /** In the order of windows, keys and versions; the first `atMost` of `versions_found`. */
  readonly wrong_versions: readonly WrongVersion[];
  readonly versions_found: string;
  readonly wrong_links: readonly WrongLink[];
  readonly links_found: string;
  readonly guard: readonly GuardGap[];
  /** Null: no digest was given, or it says nothing of this rollup. */
  readonly digest: (DigestEntry & { readonly holds: boolean; readonly link: Link | null }) | null;
}

export type Step = 'versions' | 'links';

/** @param transaction `repeatable read`, so that a run that commits meanwhile is seen whole or not at all. */
export async function verify(
  transaction: ControlTransaction,
  rollup: Rollup,
  digest: DigestEntry | undefined,
  onStep: (step: Step, link: Link | undefined) => void = () => {},
  atMost = 20,
): Promise<Verification> {
  const bindings = bindingsOf(rollup);
  const head = await readLink(transaction, rollup);
  onStep('versions', head);
  const { rows: versions } = await execute<WrongVersion>(
    transaction,
    prepare('report/evidence_rows.sql', bindings),
    { at_most: atMost },
  );
  onStep('links', head);
  const { rows: links } = await execute<WrongLink>(
    transaction,
    prepare('report/evidence_links.sql', bindings),
    { rollup_id: rollup.id, at_most: atMost },
  );
  const { rows: guard } = await execute<GuardGap>(transaction, prepare('report/guard_state.sql', bindings));
  const compared = digest === undefined ? null : await compare(transaction, rollup, digest);
  return {
    rollup: rollup.settings.name,
    holds: versions.length + links.length + guard.length === 0 && compared?.holds !== false,
    link: head ?? null,
    waiting: await countWaiting(transaction, rollup, head),
    wrong_versions: versions,
    versions_found: versions[0]?.found ?? '0',
    wrong_links: links,
    links_found: links[0]?.found ?? '0',
    guard,
    digest: compared,
  };
}

/** Whether the digest's head is still a link at its place. That the links lead on from it to the head is proved by them. */
async function compare(
  transaction: ControlTransaction,
  rollup: Rollup,
  digest: DigestEntry,
): Promise<Verification['digest']> {
  if (digest.run_id === null) return { ...digest, holds: true, link: null };
  const link = (await readLink(transaction, rollup, digest.run_id)) ?? null;
  return { ...digest, holds: link?.head === digest.head, link };
}
