/** What people read when something is wrong, and how amounts look; without a database. */
import { describe, expect, test } from 'vitest';
import { type ExitCode, smallestTrue } from '../../src/cli/exit-code.ts';
import { formatFailure } from '../../src/failure.ts';
import { amount, counted, difference } from '../../src/output/amount.ts';
import { bytesText } from '../../src/output/bytes.ts';
import { connectionFailure } from '../../src/output/connection-failure.ts';
import { databaseFailure } from '../../src/output/database-failure.ts';
import { serializeError } from '../../src/output/log.ts';
import { hideSecrets } from '../../src/output/secrets.ts';
import { windowText } from '../../src/output/window-text.ts';

const thrown = (code: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, severity: 'ERROR', ...more });

describe('an error of the database becomes one clear failure', () => {
  test.each<[string, string, ExitCode, string]>([
    ['42501', 'permission denied for schema gold', 2, 'grant usage on schema gold'],
    ['42501', 'permission denied for table orders', 2, 'grant select on orders'],
    [
      '42501',
      'permission denied to create temporary tables in database "shop"',
      2,
      'grant temporary on database shop',
    ],
    ['42P01', 'relation "bronze.orders" does not exist', 1, 'errata check'],
    ['22012', 'division by zero', 1, 'nullif'],
    ['22003', 'bigint out of range', 1, 'cast it to a wider type'],
    ['22P02', 'invalid input syntax for type numeric: "x"', 1, 'correct the row in bronze'],
    ['40001', 'could not serialize access due to concurrent update', 1, 'run the command again'],
    ['40P01', 'deadlock detected', 1, 'run the command again'],
    ['57014', 'canceling statement due to statement timeout', 1, 'statement_timeout'],
    ['57014', 'canceling statement due to user request', 1, 'somebody cancelled it'],
    ['55P03', 'canceling statement due to lock timeout', 1, 'lock_timeout'],
    ['25P03', 'terminating connection due to idle-in-transaction timeout', 1, 'timeouts'],
    ['25006', 'cannot execute INSERT in a read-only transaction', 2, 'primary'],
    ['53100', 'could not extend file: No space left on device', 1, 'make room'],
    ['57P01', 'terminating connection due to administrator command', 1, 'server log'],
    ['08006', 'connection failure', 1, 'server log'],
    ['23505', 'duplicate key value', 1, 'nothing was written'],
  ])('%s %s → %i', (code, message, exitCode, hint) => {
    const failure = databaseFailure(thrown(code, message), { rollup: 'daily' });
    expect(failure?.exitCode).toBe(exitCode);
    expect(failure?.hint).toContain(hint);
    expect(failure?.detail).toContain(message);
  });

  test('a connection that broke, with or without a code', () => {
    const said = 'the connection to the database was lost while rollup "daily" was at work';
    for (const error of [
      new Error('Connection terminated unexpectedly'),
      Object.assign(new Error('read'), { code: 'ECONNRESET' }),
    ])
      expect(databaseFailure(error, { rollup: 'daily' })?.message).toBe(said);
  });

  test('what is none of the database’s is no failure', () => {
    expect(databaseFailure(new TypeError('x is not a function'))).toBeUndefined();
  });

  test.each<[object, ExitCode, string]>([
    [{ code: '3D000' }, 2, 'there is no database at'],
    [{ code: '28P01' }, 2, 'the database does not let us in at'],
    [{ code: 'ENOTFOUND' }, 1, 'no database answers at'],
    [{ code: '53300' }, 1, 'the database has no connection left at'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 2, 'no secure connection could be made to'],
  ])('a first connection that fails: %j → %i', (more, exitCode, message) => {
    const failure = connectionFailure(Object.assign(new Error('no'), more), 'db:5432');
    expect(failure.message.startsWith(message)).toBe(true);
    expect(failure.exitCode).toBe(exitCode);
  });

  test('a name with several addresses: Node’s error has no message of its own', () => {
    const error = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:5432')], ''), {
      code: 'ECONNREFUSED',
    });
    expect(formatFailure(connectionFailure(error, 'localhost:5432'))).toContain('ECONNREFUSED ::1:5432');
  });
});

test('of several exit codes the smallest that is true, failure first', () => {
  expect(smallestTrue([])).toBe(0);
  expect(smallestTrue([0, 4, 0])).toBe(4);
  expect(smallestTrue([4, 3, 0])).toBe(3);
  expect(smallestTrue([3, 2])).toBe(2);
  expect(smallestTrue([4, 3, 1, 2])).toBe(1);
});

test('passwords are hidden', () => {
  const hidden = hideSecrets('postgres://etl:p@ss:w@db.example/x?password=abc&a=1, and sesame-1', {
    PGPASSWORD: 'sesame-1',
  });
  expect(hidden).toBe('postgres://etl:***@db.example/x?password=***&a=1, and ***');
});

test('a logged error carries what tells of it, and not the client', () => {
  const error = thrown('22012', 'division by zero', {
    client: { password: 'x' },
    where: 'SQL function',
    length: 12,
  });
  expect(serializeError(error, {})).toEqual({
    message: 'division by zero',
    code: '22012',
    where: 'SQL function',
  });
});

test('amounts are decimal text, all digits kept', () => {
  expect(amount('123456789012345678901234567890.10')).toBe('123,456,789,012,345,678,901,234,567,890.10');
  expect(amount('-0.000000000000000000001')).toBe('-0.000000000000000000001');
  expect(amount(null)).toBe('–');
  expect(amount('NaN')).toBe('NaN');
  expect(difference('1.50')).toBe('+1.50');
  expect(difference('-2')).toBe('-2');
  expect(difference('0.00')).toBe('0.00');
  expect(counted('1402', 'event')).toBe('1,402 events');
  expect(bytesText(1_363_148)).toBe('1.3 MB');
});

test('a window is one word where that leaves no doubt', () => {
  const at = (start: string, end: string, date: string | null = null) =>
    windowText({ window_start: start, window_end: end, local_date: date });
  expect(at('2026-10-28 23:00:00+00', '2026-10-29 23:00:00+00', '2026-10-29')).toBe('2026-10-29');
  expect(at('2026-10-29 10:00:00+00', '2026-10-29 10:05:00+00')).toBe('2026-10-29 10:00Z to 10:05Z');
  expect(at('2026-10-29 23:55:00+00', '2026-10-30 00:00:00+00')).toBe(
    '2026-10-29 23:55Z to 2026-10-30 00:00Z',
  );
});
