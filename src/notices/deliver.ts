/**
 * Notices leave the outbox by POST, the oldest first and each at least once: whoever answers with a status from 200 to 299
 * has it. A receiver may get one twice, and knows it by its number (header `errata-notice`).
 */
import { createHmac } from 'node:crypto';
import type { NoticeSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';

export interface Delivered {
  readonly delivered: number;
  /** Why the last one tried was not; it is tried again, after a minute at first and an hour at most. */
  readonly failure: string | null;
  readonly left: number;
}

/** Ends with the first notice that does not arrive, so that their order stays. */
export async function deliverNotices(
  control: Control,
  settings: Settings,
  signal?: AbortSignal,
): Promise<Delivered> {
  const { notices } = settings;
  if (notices === undefined) return { delivered: 0, failure: null, left: 0 };
  let delivered = 0;
  let failure: string | null = null;
  while (failure === null && !signal?.aborted) {
    const answer = await inTransaction(control, 'read committed', (transaction) =>
      deliverNext(transaction, settings, notices),
    );
    if (answer === undefined) break;
    failure = answer;
    if (failure === null) delivered++;
  }
  return { delivered, failure, left: await undelivered(control, settings) };
}

/** @returns undefined: none is due; null: it arrived; else why not. */
async function deliverNext(
  transaction: ControlTransaction,
  settings: Settings,
  notices: NoticeSettings,
): Promise<string | null | undefined> {
  const schema = quoteName(settings.schema);
  const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
  const { rows } = await execute<{ notice_id: string; notice: string; attempts: number }>(
    transaction,
    prepare('notices/due.sql', { schema }),
    { rollups: settings.rollups.map(({ name }) => name), now: clock?.now ?? null },
  );
  const [due] = rows;
  if (due === undefined) return undefined;
  const failure = await post(notices, due.notice_id, due.notice);
  const wait = Math.min(60 * 2 ** Math.min(due.attempts, 6), 3600);
  await query(
    transaction,
    `update ${schema}.outbox set
       attempts = attempts + 1,
       delivered_at = case when $2::text is null then clock_timestamp() end,
       next_attempt_at = case when $2::text is not null then clock_timestamp() + make_interval(secs => $3) end,
       last_error = $2
     where notice_id = $1`,
    [due.notice_id, failure, wait],
  );
  return failure;
}

/** @returns why it did not arrive; the address is not in it, since it may hold a token. */
async function post(
  { webhook, secret, timeout }: NoticeSettings,
  id: string,
  body: string,
): Promise<string | null> {
  const signature =
    secret === undefined ? undefined : createHmac('sha256', secret).update(body).digest('hex');
  try {
    const answer = await fetch(webhook, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'errata-notice': id,
        ...(signature === undefined ? {} : { 'errata-signature': `sha256=${signature}` }),
      },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(Number(timeout.microseconds / 1000n)),
    });
    await answer.body?.cancel();
    return answer.ok ? null : `it answered with status ${answer.status}`;
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return name === 'TimeoutError'
      ? `no answer within ${timeout.text}`
      : `it cannot be reached${cause?.code === undefined ? '' : ` (${cause.code})`}`;
  }
}

async function undelivered(control: Control, { schema, rollups }: Settings): Promise<number> {
  const [row] = await query<{ left: string }>(
    control,
    `select count(*) as left from ${quoteName(schema)}.outbox where delivered_at is null and notice ->> 'rollup' = any ($1)`,
    [rollups.map(({ name }) => name)],
  );
  return Number(row?.left ?? 0);
}
