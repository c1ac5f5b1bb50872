import pg from 'pg';
import { expect, test } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import { openTestDatabase } from '../support/database.ts';

const database = await openTestDatabase();

test('what JavaScript would damage arrives as PostgreSQL writes it', async () => {
  const client = await database.pool.connect();
  await client.query("begin; set local timezone = 'UTC'");
  const { rows } = await client.query(`
    select 9007199254740993::int8 as big, 0.10::numeric as price, array[0.10, null]::numeric[] as prices,
      date '2026-10-29' as day, array[date 'infinity'] as days, '-infinity'::timestamptz as never,
      timestamptz '2026-10-29 18:02:00.000001+00' as instant,
      array['2026-10-29 18:02:00.000001+00']::timestamptz[] as instants,
      interval '1 day 02:03:04.000005' as pause, 42 as small, '{"a": 1}'::jsonb as document`);
  await client.query('rollback');
  client.release();
  expect(rows[0]).toEqual({
    big: '9007199254740993',
    price: '0.10',
    prices: ['0.10', null],
    day: '2026-10-29',
    days: ['infinity'],
    never: '-infinity',
    instant: '2026-10-29 18:02:00.000001+00',
    instants: ['2026-10-29 18:02:00.000001+00'],
    pause: '1 day 02:03:04.000005',
    small: 42,
    document: { a: 1 },
  });
});

test('the parsers of other connections in the program stay as they were', async () => {
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query("select date '2026-10-29' as day, array[0.5] as halves");
  await client.end();
  expect(rows[0]).toEqual({ day: expect.any(Date), halves: [0.5] });
});

test('connections are named errata, unless the URL names them', async () => {
  const statement = "select current_setting('application_name') as name";
  expect((await database.pool.query(statement)).rows[0]).toEqual({ name: 'errata' });
  const named = createPool(`${database.url}${database.url.includes('?') ? '&' : '?'}application_name=mine`);
  expect((await named.query(statement)).rows[0]).toEqual({ name: 'mine' });
  await named.end();
});

test('a connection lost while idle is reported and replaced', async () => {
  const lost: Error[] = [];
  const pool = createPool(database.url, { max: 1, onIdleError: (error) => lost.push(error) });
  const { rows } = await pool.query('select pg_backend_pid() as pid');
  await database.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
  await expect.poll(() => lost.length).toBe(1);
  expect((await pool.query('select 1 as one')).rows[0]).toEqual({ one: 1 });
  await pool.end();
});
