/** Whether the partials that runs use are what bronze gives (R14, R20). */
import { bindingsOf } from '../../catalog/bindings.ts';
import { listPartitions } from '../../catalog/partitions.ts';
import { relationsOf } from '../../catalog/relations.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { trustedSql } from '../../db/identifiers.ts';
import { execute, prepare, query } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';

/** Names each keyed window of the sweep with a partial that differs. @param from, to where the windows start, half-open */
export async function comparePartials(
  transaction: ControlTransaction,
  rollup: Rollup,
  from: string,
  to: string,
): Promise<void> {
  const kept = await query<{ relation_id: string; content: string | null }>(
    transaction,
    `select k.relation_id::text as relation_id, k.content from ${relationsOf(rollup).partial_partition} as k where not k.is_failed`,
  );
  const contents = new Map(kept.map(({ relation_id: id, content }) => [id, content]));
  for (const partition of await listPartitions(transaction, rollup)) {
    // what was written to is kept anew by the next run
    if (contents.get(partition.relation_id) !== partition.content) continue;
    await execute(
      transaction,
      prepare('report/reconcile/partials.sql', {
        ...bindingsOf(rollup),
        partition_constraint: trustedSql(partition.constraint_text),
      }),
      {
        relation: partition.relation_id,
        partition: partition.relation,
        ingested_from: partition.lower_bound,
        ingested_to: partition.upper_bound,
        window_from: from,
        window_to: to,
      },
    );
  }
}
