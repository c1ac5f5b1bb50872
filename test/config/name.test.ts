import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTableName, readGoldName, readName, readTableName } from '../../src/config/name.ts';

const long = 'is longer than 63 bytes, where PostgreSQL cuts names; write a shorter name';
const quote = 'has a double quote out of place; write a part with a dot or quote in it as "in ""SQL"""';

describe('readTableName', () => {
  it.each([
    ['gold.daily_orders', 'gold', 'daily_orders'],
    ['Gold.Daily Orders', 'Gold', 'Daily Orders'],
    ['select.table', 'select', 'table'],
    ['"odd.schema"."say ""hi"""', 'odd.schema', 'say "hi"'],
    ['"gold".orders', 'gold', 'orders'],
    ["gold.x'; drop table y; --", 'gold', "x'; drop table y; --"],
    ['größe.日本', 'größe', '日本'],
    ['$1.%I', '$1', '%I'],
    [`${'s'.repeat(63)}.${'ü'.repeat(31)}`, 's'.repeat(63), 'ü'.repeat(31)],
  ])('%s', (text, schema, name) => {
    expect(readTableName(text)).toEqual({ value: { schema, name } });
  });

  it.each([
    ['orders', 'lacks the schema; write schema.table'],
    ['', 'lacks the schema; write schema.table'],
    ['.orders', 'has an empty name in it; write the name'],
    ['gold.', 'has an empty name in it; write the name'],
    ['gold.""', 'has an empty name in it; write the name'],
    [
      'db.gold.orders',
      'has more than two parts; write schema.table, a part with a dot in it in double quotes',
    ],
    ['gold."orders', quote],
    ['gold.or"ders', quote],
    ['"gold"x.orders', quote],
    ['gold.a\0b', 'has a character in it that PostgreSQL cannot store; write the name without it'],
    ['gold.\ud800', 'has a character in it that PostgreSQL cannot store; write the name without it'],
    [`gold.${'ü'.repeat(32)}`, long],
  ])('refuses %j', (text, wrong) => expect(readTableName(text)).toEqual({ wrong }));

  it('reads back what formatTableName writes', () => {
    const part = fc.string({
      unit: fc.constantFrom('"', '.', ' ', 'a', 'Z', 'é', '$', '{', "'", '\\', '\n'),
      minLength: 1,
      maxLength: 31,
    });
    fc.assert(
      fc.property(part, part, (schema, name) => {
        expect(readTableName(formatTableName({ schema, name }))).toEqual({ value: { schema, name } });
      }),
    );
  });
});

it('a gold name leaves room for what is added to it', () => {
  expect(readGoldName(`g.${'x'.repeat(48)}`)).toHaveProperty('value');
  expect(readGoldName(`g.${'x'.repeat(49)}`)).toEqual({
    wrong:
      'is longer than 48 bytes, and _reconciliation and the like are added to it while PostgreSQL cuts names at 63; write a shorter name',
  });
});

it('a column is taken literally', () => {
  expect(readName('a."b"')).toEqual({ value: 'a."b"' });
  expect(readName('')).toEqual({ wrong: 'has an empty name in it; write the name' });
  expect(readName('x'.repeat(64))).toEqual({ wrong: long });
});
