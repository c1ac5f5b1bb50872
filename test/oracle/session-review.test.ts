/**
 * Sessions under `review` and under a threshold, on random histories: once all is approved, what is known is what `auto` knows;
 * until then nothing of it is published but what ships, and it adds up (R6s, R10, R14).
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { approveProposals } from '../../src/publication/decide.ts';
import { openTestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';
import { reconciled } from '../support/reconcile.ts';
import { type History, histories, withBridges } from './history.ts';

const numberOfHistories = Math.ceil(Number(process.env.ERRATA_HISTORIES ?? 160) / 40);
const seed = process.env.ERRATA_SEED === undefined ? 8841 : Number(process.env.ERRATA_SEED);
const gap = 12;
const publish = {
  at_once: '{ policy: auto }',
  reviewed: '{ policy: review }',
  beyond: '{ policy: auto, review_beyond: { amount: 20 } }',
} as const;
const rollups = new Map<string, TestErrata>();
let epoch = 0;

beforeAll(async () => {
  const database = await openTestDatabase();
  await database.pool.query(`
    create schema bronze;
    create table bronze.event (id text, key text, event_time timestamptz, ingested_at timestamptz, amount integer)`);
  for (const [name, how] of Object.entries(publish))
    rollups.set(
      name,
      await openErrata(
        database,
        `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: { table: bronze.event, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 0001-01-01 }
    window: { session_gap: ${gap} s }
    key: [key]
    measures: { amount: sum(amount) }
    watermark: { strategy: bounded, delay: 5 s, max_future_skew: 60 s }
    allowed_lateness: 20 s
    seal: { by: errata }
    publish: ${how}
`,
      ),
    );
}, 60_000);

test.each(['reviewed', 'beyond'] as const)('%s', { timeout: 3_600_000 }, async (name) => {
  await fc.assert(
    fc.asyncProperty(histories, fc.boolean(), async (drawn, isApprovedEachTime) => {
      const history = withBridges(drawn, gap);
      epoch += 100_800;
      const [known] = await played('at_once', history, false);
      const [latest, before] = await played(name, history, isApprovedEachTime);
      expect(latest).toEqual(known);
      // nothing that was sealed, but what ships in another session, was corrected by itself
      if (name === 'reviewed' && !isApprovedEachTime)
        expect(before?.filter((line) => !line.includes('void'))).toEqual([]);
    }),
    {
      numRuns: numberOfHistories,
      seed,
      interruptAfterTimeLimit: 3_600_000,
      endOnFailure: process.env.ERRATA_SHRINK === undefined,
    },
  );
});

/** @returns the latest values once all is approved, and the corrections before. */
async function played(name: string, history: History, isApprovedEachTime: boolean): Promise<string[][]> {
  const errata = rollups.get(name) as TestErrata;
  const instant = (seconds: number) => new Date((epoch + seconds) * 1000).toISOString();
  const range = `to_timestamp(${epoch} - 50000) and to_timestamp(${epoch} + 40000)`;
  const approveAll = async () => {
    const [open] = await errata.rows<{ is_there: boolean }>(
      `select exists (select from errata.proposal where rollup_id = ${errata.rollup.id} and state = 'open') as is_there`,
    );
    if (!open?.is_there) return;
    const word = { actor: 'kim', reason: 'checked' };
    const bound = instant(history.bounds.at(-1) as number);
    const { stale } = await approveProposals(
      errata.control,
      errata.rollup,
      word,
      isApprovedEachTime ? { atFrontier: true } : { bound },
    );
    expect(stale).toEqual([]);
  };
  const sums = async () => {
    const open = await errata.rows(
      `select * from gold.${name}_reconciliation
       where window_start between ${range} and (sealed_amount + corrections_amount <> latest_amount
         or latest_amount + pending_amount + held_amount + waived_amount <> restated_amount)`,
    );
    expect(open).toEqual([]);
    const { windows } = await reconciled(errata, { from: instant(-50_000), to: instant(40_000) });
    const named = ['conflict', 'copy in another window', 'counted by both'];
    expect(windows.filter(({ unexplained }) => unexplained.some((kind) => !named.includes(kind)))).toEqual(
      [],
    );
  };
  await errata.rows('truncate bronze.event');
  for (const [run, bound] of history.bounds.entries()) {
    await errata.rows(
      `insert into bronze.event select id, key, event_time, ingested_at, amount
       from jsonb_to_recordset($1) as r (id text, key text, event_time timestamptz, ingested_at timestamptz, amount integer)`,
      [
        JSON.stringify(
          history.rows
            .filter((_, place) => history.visibleFrom[place] === run)
            .map((row) => ({
              ...row,
              event_time: instant(row.eventTime),
              ingested_at: instant(row.ingestedAt),
            })),
        ),
      ],
    );
    await errata.run({ bound: instant(bound) });
    if (isApprovedEachTime) await approveAll();
  }
  const lines = async (sql: string) => (await errata.rows<{ line: string }>(sql)).map(({ line }) => line);
  const corrections = await lines(
    `select concat_ws(' ', window_start, window_end, key, version, case when is_void then 'void' else amount::text end) as line
     from gold.${name} where version > 1 and window_start between ${range} order by 1`,
  );
  await sums();
  await approveAll();
  await sums();
  const latest = await lines(
    `select concat_ws(' ', window_start, window_end, coalesce(quote_nullable(key), 'NULL'), event_count, amount) as line
     from gold.${name}_latest where not is_void and window_start between ${range} order by 1`,
  );
  return [latest, corrections];
}
