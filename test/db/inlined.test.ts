/** Parameters become constants, and nothing else changes: what a page shows runs as it was sent. */
import { expect, test } from 'vitest';
import { inlined } from '../../src/db/inlined.ts';
import { openTestDatabase } from '../support/database.ts';

test.each([
  ['select $1::text', ["it's"], "select 'it''s'::text"],
  ['select $2, $1, $10', ['a', 'b', null, null, null, null, null, null, null, 'j'], "select 'b', 'a', 'j'"],
  [
    'select $1::integer, $2::boolean, $3::text',
    [-5, true, null],
    "select '-5'::integer, true::boolean, null::text",
  ],
  [
    'select $1::text[]',
    [['a,b', '"', '\\', "'", 'NULL', '']],
    `select  E'{"a,b","\\\\"","\\\\\\\\","''","NULL",""}'::text[]`,
  ],
  ['-- $1 name: text\nselect $1 -- $1', ['x\ny'], "-- $1 name: text\nselect 'x\ny' -- $1"],
  [
    "select /* $1 */ \"a $1 \"\"b\" as a$1, '$1', E'\\'$1', $$ $1 $$, $t$ $1 $t$, $1",
    ['x'],
    "select /* $1 */ \"a $1 \"\"b\" as a$1, '$1', E'\\'$1', $$ $1 $$, $t$ $1 $t$, 'x'",
  ],
  ["select date'2026-01-01\\', $1", ['x'], "select date'2026-01-01\\', 'x'"],
] as const)('%j', (sql, values, result) => {
  expect(inlined(sql, values as Parameters<typeof inlined>[1])).toBe(result);
});

test('PostgreSQL reads back what was written, whatever it is', async () => {
  const { pool } = await openTestDatabase();
  const texts = [
    "'; drop table x; --",
    '\\',
    "\\'",
    '$1',
    '*/',
    '-- ',
    '{"a"}',
    'ü\n\t',
    '$$',
    '',
    '%s',
    'NULL',
  ];
  for (const setting of ['on', 'off']) {
    const [, one, all] = (await pool.query(
      `set standard_conforming_strings = ${setting}; ${texts.map((text) => inlined('select $1::text as value', [text])).join(' union all ')}; ${inlined('select $1::text[] as value', [texts])}`,
    )) as unknown as { rows: { value: unknown }[] }[];
    expect(one?.rows.map(({ value }) => value)).toEqual(
      texts.filter((text, place) => texts.indexOf(text) === place),
    );
    expect(all?.rows).toEqual([{ value: texts }]);
  }
});

test('a parameter without a value, and a comment in a comment, are defects', () => {
  expect(() => inlined('select $2', ['x'])).toThrow('parameter $2 has no value');
  expect(() => inlined('select /* /* */ $1 */ 1', ['x'])).toThrow('a comment lies in another one');
});
