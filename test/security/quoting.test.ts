/** Names become SQL in `src/db/identifiers.ts` alone, and values are parameters: whoever writes SQL otherwise is found here. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { quoteName, quoteTable, quoteText, trustedSql } from '../../src/db/identifiers.ts';
import { fill } from '../../src/db/sql.ts';
import { openTestDatabase } from '../support/database.ts';

const root = new URL('../../', import.meta.url);
const filesOf = (directory: string, ending: string) =>
  readdirSync(new URL(directory, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => ({
      path: `${directory}${file}`,
      text: readFileSync(new URL(directory + file, root), 'utf8'),
    }));

/**
 * What stands in `${}` within SQL, besides what quotes: variables of the type `Sql`, or of a few words of our own. A name or a
 * value of the user's never does; before a line is added here, look where it comes from.
 */
const reviewed: readonly string[] = [
  // parts that are SQL already
  'alias',
  'body',
  'bound.contribution',
  'bronze',
  'canonicalForm(alias, columns)',
  'collate',
  'columnOf(name)',
  'differs(…)',
  'expression',
  'head ? unchained : ledger',
  'ingestedAt',
  'isSealing',
  'iso(…)',
  'keyPairs',
  'lateEvent',
  'names[name]',
  'objectSql(kind, { schema, name })',
  'old',
  'one(…)',
  'override',
  'parts.join(…)',
  'referencing',
  'relation',
  'run.statements.touched',
  'sameKey',
  'sameKey.join(…)',
  "sameKeyAs('a')",
  'schema',
  // as PostgreSQL writes it
  'signature',
  'session',
  'sessionKey',
  'sessionPart',
  'sessionRow',
  'table',
  'tests.join(…)',
  'to',
  'track',
  'type',
  'view',
  'what',
  'windows',
  // words of our own
  'columns.join(…)',
  'instant',
  'instantOf(…)',
  'kind',
  "isPartitioned ? '' : 'concurrently '",
  'privilege',
  'privileges.join(…)',
  // numbers
  'bytesText(bytes)',
  'microseconds(…)',
  'milliseconds(…)',
  'notOfRows.join(…)',
  'offset',
  'patience',
];

const quoting = /^(quoteName|quoteTable|quoteText|joinSql)\(|^names\.\w+$|^relationsOf\(\w+\)\.\w+$/;
/** Quoted a line or so above. */
const quotedBefore: Readonly<Record<string, readonly string[]>> = {
  'src/catalog/bindings.ts': ['name', 'row', 'period', 'start', 'end', 'rows', 'zone'],
  'src/catalog/track-changes.ts': ['name'],
  'src/report/reconcile/against.ts': ['outside', 'ours', 'tolerance'],
  'src/report/statement/figures.ts': ['name', 'view', 'value'],
  'src/check/privileges.ts': ['role', 'database'],
  'src/check/roles.ts': ['name'],
  'src/db/identifiers.ts': [`name.replaceAll('"', '""')`],
};

test('what stands in SQL is quoted, or known to be SQL', () => {
  const others: string[] = [];
  for (const { path, text } of filesOf('src/', '.ts')) {
    for (const [, before = '', body = ''] of text.matchAll(/(\w*)\s*\(?\s*`((?:[^`\\]|\\.)*)`/g)) {
      const isSql =
        /^\s*(select|insert|update|delete|create|alter|drop|grant|revoke|truncate|lock|set local|comment on|with|and|where)\s+[^A-Z]/;
      if (
        before !== 'trustedSql' &&
        !(isSql.test(body) && !/^\s*(select|drop|lock|with|and|where) \w+ \w+ (is|of) /.test(body))
      )
        continue;
      for (const [, part = ''] of body.matchAll(/\$\{((?:[^{}]|\{[^}]*\})*)\}/g)) {
        const form = part.replace(
          /(join|differs|one|iso|instantOf|microseconds|milliseconds)\(.*\)$/,
          '$1(…)',
        );
        if (quoting.test(part) || reviewed.includes(form) || quotedBefore[path]?.includes(part)) continue;
        others.push(`${path}: \${${part}}`);
      }
    }
  }
  // Messages that begin like SQL, as in "and 3 more".
  const messages =
    /^src\/(commands\/(changes|events|demo)|publication\/unanswered|report\/review|report\/reconcile\/text|report\/explain\/(timeline|text)|report\/(find|lateness|status)\/text|output\/grant-hint)\.ts/;
  expect(others.filter((line) => !messages.test(line))).toEqual([]);
});

test('nobody else quotes', () => {
  const doubled = /replaceAll\(\s*(['"`])["']\1,\s*(['"`])(""|'')\2/;
  const places = filesOf('src/', '.ts').filter(
    ({ text }) =>
      doubled.test(text) || /escapeIdentifier|escapeLiteral|quote_ident|quote_literal|%[IL]/.test(text),
  );
  expect(places.map(({ path }) => path)).toEqual([
    // compares with the words of the catalogue
    'src/catalog/partitions.ts',
    // write names as errata.yaml has them
    'src/config/guess.ts',
    'src/config/name.ts',
    'src/db/identifiers.ts',
    // writes a value of a key for a person
    'src/report/keyed-window.ts',
  ]);
});

test('SQL builds no SQL: %I is in messages and in a name that is shown, and nothing is executed from a text', () => {
  const places = filesOf('sql/', '.sql').flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => /%[IL]|quote_ident|quote_literal|^\s*execute (?!function)|query_to_xml/.test(line))
      .filter((line) => !/^\s*(message|detail|hint) = format\(/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(places).toEqual([
    "sql/catalog/partitions.sql: format('%I.%I', n.nspname, c.relname) as relation,",
    // a name looked up, which to_regrole reads as an identifier
    "sql/pipeline/diff/decide.sql: a.act = 'soft_close' and to_regrole(quote_ident(a.posting_role)) is not null",
    "sql/pipeline/diff/decide.sql: and pg_has_role(current_user, to_regrole(quote_ident(a.posting_role)), 'member') as may_post",
  ]);
});

const hostile = [
  'Odd "Name"',
  `'; drop table x; --`,
  'select',
  'ï'.repeat(31),
  '$1',
  '$$',
  '$errata_guard$',
  '/*:schema*/',
  '/*.*/',
  '/*:end*/',
  '/*',
  '*/',
  '--',
  '\\',
  "\\'",
  '%I %s %L %%',
  '$' + '{name}',
  '$&',
  'a.b',
  ' ',
  'tab\tand\nline',
  '"',
  '""',
  "'",
];

test('names and texts come back as they were, also through a template and the body of a function', async () => {
  const { pool } = await openTestDatabase();
  for (const conforming of ['on', 'off']) {
    const client = await pool.connect();
    await client.query(`set standard_conforming_strings = ${conforming}; set escape_string_warning = off`);
    for (const [place, name] of hostile.entries()) {
      const bindings = { name: quoteName(name), text: quoteText(name), pair: [{ name: quoteName(name) }] };
      const sql = fill(
        `create function public.f${place} () returns table (/*:each pair*/ /*:name*/x/*.*/ text /*:end*/) language sql as $errata_guard$
         select r./*:name*/x/*.*/ from (select /*:text*/'x'/*.*/ as /*:name*/x/*.*/) as r $errata_guard$`,
        bindings,
        'f',
      );
      await client.query(`begin; ${sql}`);
      const { rows, fields } = await client.query(`select * from public.f${place}()`);
      expect([name, fields[0]?.name, Object.values(rows[0])]).toEqual([name, name, [name]]);
      await client.query('rollback');
    }
    client.release(true);
  }
});

test('a name is never empty and never holds a zero byte', () => {
  expect(() => quoteName('')).toThrow('never empty');
  expect(() => quoteTable({ schema: 'a', name: 'b\0' })).toThrow('zero byte');
  expect(() => quoteText('a\0')).toThrow('zero byte');
});

test('what stands in a value is no placeholder, and ends no body', () => {
  const bindings = {
    a: trustedSql('/*:b*/x/*.*/'),
    b: trustedSql('B'),
    list: [{ a: trustedSql('$tag$ /*:b*/') }],
  };
  expect(
    fill('select /*:a*/1/*.*/ /*:each list*/ /*:a*/1/*.*/ /*:end*/ as $tag$ x $tag$', bindings, 'f'),
  ).toBe('select /*:b*/x/*.*/  $tag$ /*:b*/  as $tag_2$ x $tag_2$');
});
