/** The database fails in the middle of a run: nothing is half done, and the next run says what an undisturbed one says (R17). */
import { afterEach, describe, expect, test } from 'vitest';
import { databaseFailure } from '../../src/output/database-failure.ts';
import { errata, startDirectly, workDirectory } from '../commands/command.ts';
import { ordersYaml } from '../support/orders.ts';
import { type Cut, cutting } from './proxy.ts';
import { bounds, type Copy, openStory, stateOf, storyOptions, untilAlone } from './story.ts';

const story = await openStory();
const directory = workDirectory(ordersYaml(storyOptions));
const arguments_ = ['run', '--json', '--bound', bounds[1]];
process.env.ERRATA_LOG_LEVEL = 'debug';

let copy: Copy;
afterEach(async () => copy.close());

const errorOf = (stdout: string) => JSON.parse(stdout).rollups[0].error;
const versions = async () =>
  (await copy.pool.query('select count(*)::int as n from gold.daily_orders')).rows[0].n;

test.each(['classify', 'seal', 'publish'])('the backend is terminated at %s', async (stage) => {
  copy = await story.copy();
  const started = startDirectly(directory, copy.url, ...arguments_);
  await started.said(`"stage":"${stage}"`);
  await copy.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
  );
  const { exitCode, stdout } = await started.ended;
  // it may have committed before the word came
  if (exitCode === 1) expect(errorOf(stdout).message).toContain('the connection to the database was lost');
  else expect(exitCode).toBe(3);
  await copy.mustHeal(`terminated at ${stage}`);
});

describe('the connection is cut in mid-commit', () => {
  test.each<{ cut: Cut; isDone: boolean }>([
    { cut: 'before the commit arrives', isDone: false },
    { cut: 'before its answer comes back', isDone: true },
  ])('$cut', async ({ cut, isDone }) => {
    copy = await story.copy();
    const before = await versions();
    // the commits before it are of what looks at the rollup and at bronze first
    const proxy = await cutting(copy.url, cut, 3);
    const { exitCode, stdout } = await errata(directory, proxy.url, ...arguments_);
    expect(exitCode).toBe(1);
    expect(proxy.cuts()).toBe(1);
    expect(errorOf(stdout)).toMatchObject({
      message: 'the connection to the database was lost while rollup "daily_orders" was at work',
      hint: expect.stringContaining('run the command again'),
    });
    expect((await versions()) > before).toBe(isDone);
    await copy.mustHeal(`cut ${cut}`);
  });
});

test('a write fails: nothing is written, and the next run heals', async () => {
  copy = await story.copy();
  const before = await stateOf(copy.pool);
  for (const fault of [
    'before insert on gold.daily_orders_late_event for each row',
    'before insert on gold.daily_orders for each row when (new.version = 1)',
    'before insert on gold.daily_orders for each row when (new.version > 1)',
    'before update of frontier on errata.rollup for each row',
  ]) {
    expect(await failing(`create trigger fail ${fault}`)).toBe(full);
    expect(await stateOf(copy.pool)).toBe(before);
  }
  // raised by the commit itself
  expect(
    await failing(
      'create constraint trigger fail after update on errata.run initially deferred for each row',
    ),
  ).toBe(full);
  expect(await stateOf(copy.pool)).toBe(before);
  await copy.mustHeal('writes failed');
});

const full = 'the disk of the database is full while rollup "daily_orders" was at work';

/** What a person reads when this trigger says that the disk is full. */
async function failing(trigger: string): Promise<string | undefined> {
  await copy.pool.query(`create function public.fail() returns trigger language plpgsql as $$ begin
    raise exception using errcode = 'disk_full', message = 'could not extend file: No space left on device'; end $$;
    ${trigger} execute function public.fail()`);
  const error = await copy.run().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await copy.pool.query('drop function public.fail() cascade');
  return databaseFailure(error, { rollup: 'daily_orders' })?.message;
}

/** The same database, with settings as `alter role … set` would give them. */
function limited(settings: string): string {
  const url = new URL(copy.url);
  url.searchParams.set('options', settings);
  return url.href;
}

describe('limits of the role', () => {
  test.each([
    ['lock_timeout', '50ms', 'a lock was not to be had in time'],
    ['statement_timeout', '300ms', 'a statement was cancelled'],
  ])('%s', async (name, value, message) => {
    copy = await story.copy();
    const holder = await copy.pool.connect();
    try {
      await holder.query('begin; lock table gold.daily_orders_late_event in access exclusive mode');
      const { exitCode, stdout } = await errata(directory, limited(`-c ${name}=${value}`), ...arguments_);
      expect(exitCode).toBe(1);
      expect(errorOf(stdout).message).toBe(`${message} while rollup "daily_orders" was at work`);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    await copy.mustHeal(name);
  });

  test('idle_in_transaction_session_timeout: the process is paused in the middle', async () => {
    copy = await story.copy();
    const started = startDirectly(
      directory,
      limited('-c idle_in_transaction_session_timeout=100ms'),
      ...arguments_,
    );
    await started.said('"stage":"copies"');
    started.signal('SIGSTOP');
    await untilAlone(copy.pool);
    started.signal('SIGCONT');
    const { exitCode, stdout } = await started.ended;
    expect(exitCode).toBe(1);
    expect(errorOf(stdout).message).toMatch(
      /^the (connection to the database was lost|database ended a transaction that waited)/,
    );
    await copy.mustHeal('paused');
  });

  test('temp_file_limit', async () => {
    copy = await story.copy();
    const { exitCode, stdout } = await errata(
      directory,
      limited(
        '-c temp_file_limit=0 -c work_mem=64kB -c enable_hashagg=off -c enable_hashjoin=off -c enable_indexscan=off -c enable_bitmapscan=off',
      ),
      ...arguments_,
    );
    expect(exitCode).toBe(1);
    expect(errorOf(stdout).message).toBe(
      'the database ran out of resources while rollup "daily_orders" was at work',
    );
    await copy.mustHeal('temp_file_limit');
  });
});
