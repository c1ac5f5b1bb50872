import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { type DescribedTable, startingFile } from '../../src/config/starting-file.ts';
import type { Failure } from '../../src/failure.ts';

function chosen(file: string): ReturnType<typeof parseSettings> {
  return parseSettings(file.replace('policy:\n', 'policy: grace\n'), 'errata.yaml', {});
}

const clicks: DescribedTable = {
  schema: 'Web Log',
  name: 'Clicks.raw',
  columns: [
    { name: 'click_id', type: 'uuid' },
    { name: 'clicked_at', type: 'timestamp without time zone' },
    { name: 'loaded', type: 'timestamp with time zone' },
    { name: 'page', type: 'character varying(200)' },
    { name: 'seconds', type: 'double precision' },
    { name: 'Cost in €', type: 'numeric(12,4)' },
    { name: 'order', type: 'integer' },
    { name: 'version', type: 'integer' },
    { name: 'user_id', type: 'bigint' },
    { name: 'kafka_partition', type: 'integer' },
  ],
  primaryKey: ['click_id', 'loaded'],
  indexes: [{ columns: ['click_id', 'loaded'], unique: true }],
  partitionKey: ['loaded'],
};

describe('startingFile', () => {
  it('has one fault: the policy is not chosen', () => {
    for (const file of [startingFile(), startingFile(clicks)]) {
      const line = file.split('\n').findIndex((text) => text.trim() === 'policy:') + 1;
      try {
        parseSettings(file, 'errata.yaml', {});
        expect.unreachable();
      } catch (error) {
        expect((error as Failure).message).toBe('errata.yaml has a fault');
        expect((error as Failure).detail).toContain(`errata.yaml:${line}:14  rollups.`);
        expect((error as Failure).detail).toContain('.publish.policy: is missing; there is no default');
      }
    }
  });

  it('names the schema for editors in its first line', () => {
    expect(startingFile().split('\n')[0]).toBe(
      '# yaml-language-server: $schema=./node_modules/errata/schema/errata.schema.json',
    );
    expect(startingFile(undefined, '../x.json').split('\n')[0]).toBe(
      '# yaml-language-server: $schema=../x.json',
    );
  });

  it('is an example without a table', () => {
    expect(chosen(startingFile()).rollups[0]).toMatchObject({
      gold: { schema: 'gold', name: 'daily_orders' },
      bronze: { table: { schema: 'bronze', name: 'orders' }, eventId: ['order_id'], eventTime: 'ordered_at' },
      key: ['region'],
      measures: [
        { name: 'orders', expression: 'count(*)' },
        { name: 'amount', expression: 'sum(amount)' },
      ],
    });
  });

  it('guesses from the columns of a table, and says so', () => {
    const file = startingFile(clicks);
    expect(file).toContain('# Columns and measures are guesses from the columns of the table.');
    expect(file).toContain('# source_partition: kafka_partition');
    expect(chosen(file).rollups[0]).toMatchObject({
      name: 'daily_clicks_raw',
      bronze: {
        table: { schema: 'Web Log', name: 'Clicks.raw' },
        eventId: ['click_id'],
        identity: 'event_id',
        eventTime: 'clicked_at',
        ingestedAt: 'loaded',
        timeZone: 'UTC',
      },
      key: ['page'],
      measures: [
        { name: 'clicks_raw', expression: 'count(*)' },
        { name: 'seconds', expression: 'sum(seconds::numeric)' },
        { name: 'cost_in', expression: 'sum("Cost in €")' },
        { name: 'order', expression: 'sum("order")' },
      ],
    });
  });

  it('says what it did not find', () => {
    const bare = {
      ...clicks,
      columns: [{ name: 'x', type: 'text' }],
      primaryKey: [],
      indexes: [],
      partitionKey: [],
    };
    const file = startingFile(bare);
    expect(file).toContain('event_time: event_time # no column looks like it: write its name');
    expect(chosen(file).rollups[0]).toMatchObject({ bronze: { identity: 'unique_rows' }, key: [] });
  });

  it('reads back whatever the table is called', () => {
    const name = fc.string({
      unit: fc.constantFrom(
        '"',
        '.',
        ' ',
        'a',
        'Z',
        'é',
        '$',
        '{',
        '}',
        "'",
        '\\',
        '\n',
        '#',
        ':',
        '*',
        '-',
        '(',
        '\u2028',
      ),
      minLength: 1,
      maxLength: 20,
    });
    const type = fc.constantFrom(
      'text',
      'numeric',
      'real',
      'timestamp with time zone',
      'timestamp without time zone',
    );
    const column = fc.record({ name, type });
    fc.assert(
      fc.property(
        name,
        name,
        fc.uniqueArray(column, { selector: (one) => one.name, maxLength: 6 }),
        (schema, table, columns) => {
          const names = columns.map((one) => one.name);
          const file = startingFile({
            schema,
            name: table,
            columns,
            primaryKey: names.slice(0, 2),
            indexes: [],
            partitionKey: names.slice(1, 2),
          });
          const [rollup] = chosen(file).rollups;
          expect(rollup?.bronze.table).toEqual({ schema, name: table });
          const mapped = [...(rollup?.bronze.eventId ?? []), ...(rollup?.key ?? [])];
          expect(names).toEqual(expect.arrayContaining(mapped));
        },
      ),
    );
  });
});
