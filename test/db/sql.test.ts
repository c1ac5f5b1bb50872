import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unusedBindings } from '../../src/catalog/statements.ts';
import { trustedSql } from '../../src/db/identifiers.ts';
import { fill, sampleStatement } from '../../src/db/sql.ts';
import { openTestDatabase } from '../support/database.ts';
import { openOrders } from '../support/orders.ts';

const files = readdirSync(new URL('../../sql/', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sql'))
  .sort();

test('every file of sql/ is SQL as it stands, before a placeholder is filled', async () => {
  const { pool } = await openTestDatabase();
  const broken: string[] = [];
  for (const file of files) {
    // Parsed whole before anything in it runs, and undone at once: what is missing here is a relation, never a comma.
    await pool
      .query(
        `begin; set local check_function_bodies = off; savepoint s; ${sampleStatement(file).replaceAll(/\$\d+(?=::)/g, 'null')}`,
      )
      .catch((error: { code: string; message: string }) => {
        if (error.code === '42601') broken.push(`${file}: ${error.message}`);
      });
    await pool.query('rollback');
  }
  expect(broken).toEqual([]);
});

test('nothing is bound that no file uses', async () => {
  const { rollup } = await openOrders();
  expect(unusedBindings(rollup)).toEqual([]);
});

const bindings = {
  table: trustedSql('"a"."b"'),
  key: [{ key: trustedSql('"x"') }, { key: trustedSql('"y"') }],
};

test('values and lists are replaced, samples included', () => {
  expect(
    fill('select /*:each key*/ /*:key*/region/*.*/, /*:end*/ 1 from /*:table*/gold.t/*.*/', bindings, 'f'),
  ).toBe('select  "x",  "y",  1 from "a"."b"');
});

test.each([
  ['a value that is missing', 'select /*:other*/1/*.*/', 'f: nothing is bound to "other"'],
  ['a list that is missing', '/*:each others*/ 1 /*:end*/', 'f: nothing is bound to the list "others"'],
  ['a placeholder that is not closed', 'select /*:table*/ 1', 'f: the placeholder /*:table*/ is left over'],
  ['an end without a beginning', 'select 1/*.*/', 'f: the placeholder /*.*/ is left over'],
  [
    'a placeholder inside another',
    '/*:table*/ /*:key*/a/*.*/ /*.*/',
    'f: a placeholder opens inside "table"',
  ],
])('%s is an error', (_, template, message) => {
  expect(() => fill(template, bindings, 'f')).toThrow(message);
});
