/**
 * Notices leave the outbox by POST, the oldest first and each at least once: whoever answers with a status from 200 to 299
 * has it. A receiver may get one twice, and knows it by its number (header `errata-notice`).
 */
import { createHmac } from 'node:crypto';
import { microseconds } from '../catalog/describe.ts';
import type { NoticeSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare, query, type Value } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';

export interface Delivered {
  readonly delivered: number;
  /** Why the last one tried was not; it is tried again, after a minute at first and an hour at most. */
  readonly failure: string | null;
  readonly left: number;
}

/** What the claim of a notice lasts beyond the time that its delivery may take. */
const grace = 30_000_000n;

/** Ends with the first notice that does not arrive, so that their order stays; then those whose time is up are deleted. */
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
    const answer = await deliverNext(control, settings, notices);
    if (answer === undefined) break;
    failure = answer;
    if (failure === null) delivered++;
  }
  await inOne(control, settings, 'thin', (now) => ({
    rollups: namesOf(settings),
    now,
    keep: microseconds(notices.keep),
  }));
  return { delivered, failure, left: await undelivered(control, settings) };
}

/**
 * No transaction is open while it is delivered: it is claimed for a time, and settled afterwards.
 * @returns undefined: none is due; null: it arrived; else why not.
 */
async function deliverNext(
  control: Control,
  settings: Settings,
  notices: NoticeSettings,
): Promise<string | null | undefined> {
  const [claimed] = await inOne<{ notice_id: string; notice: string; attempts: number }>(
    control,
    settings,
    'claim',
    (now) => ({
      rollups: namesOf(settings),
      now,
      lease: `${notices.timeout.microseconds + grace} microseconds`,
    }),
  );
  if (claimed === undefined) return undefined;
  const { notice_id: id, notice, attempts } = claimed;
  const failure = await post(notices, id, notice);
  const wait = Math.min(60 * 2 ** Math.min(attempts - 1, 6), 3600);
  await inOne(control, settings, 'settle', (now) => ({
    notice_id: id,
    attempts,
    failure,
    now,
    wait: `${wait} seconds`,
  }));
  return failure;
}

const namesOf = ({ rollups }: Settings) => rollups.map(({ name }) => name);

/** One statement in a transaction of its own, told the database's clock. */
async function inOne<Row = object>(
  control: Control,
  { schema }: Settings,
  file: 'claim' | 'settle' | 'thin',
  values: (now: string) => Readonly<Record<string, Value>>,
): Promise<Row[]> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
    const statement = prepare(`notices/${file}.sql`, { schema: quoteName(schema) });
    return (await execute<Row>(transaction, statement, values(clock?.now as string))).rows;
  });
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

async function undelivered(control: Control, settings: Settings): Promise<number> {
  const [row] = await query<{ left: string }>(
    control,
    `select count(*) as left from ${quoteName(settings.schema)}.outbox where delivered_at is null and notice ->> 'rollup' = any ($1)`,
    [namesOf(settings)],
  );
  return Number(row?.left ?? 0);
}
