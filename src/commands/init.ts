/** `errata init`: a commented errata.yaml to start from, filled from a table's columns where one is named. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '../cli/context.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { DescribedTable } from '../config/guess.ts';
import { formatTableName, readTableName } from '../config/name.ts';
import type { TableName } from '../config/settings.ts';
import { startingFile } from '../config/starting-file.ts';
import { execute, prepare } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';

export const init: Verb<{ table?: string; force?: boolean }> = {
  name: 'init',
  summary: 'write a commented errata.yaml to start from',
  arguments: [],
  options: [
    { flags: '--table <SCHEMA.TABLE>', description: 'fill it from the columns of this table' },
    { flags: '--force', description: 'overwrite a file that is there' },
  ],
  help: `${exitCodeHelp([0, 1, 2])}

The table is looked for in DATABASE_URL, or where the PG* variables point. The publish policy is left open: it must
be chosen, and the file explains the choice.

Example:
  errata init --table bronze.orders && $EDITOR errata.yaml && errata check`,

  async execute(context, _names, { table, force }) {
    // Asked first, so that nobody waits for a database in vain; the write asks again.
    if (!force && existsSync(context.configPath)) throw isThere(context.configFile);
    const described = table === undefined ? undefined : await describeTable(context, table);
    write(context, startingFile(described, schemaLocation(context.configPath)), force === true);
    return {
      exitCode: 0,
      text: `wrote ${context.configFile}${described ? `, filled from ${formatTableName(described)}` : ''}; choose publish.policy in it, then run \`errata check\``,
      data: { file: context.configFile, table: described ? formatTableName(described) : null },
    };
  },
};

const statement = prepare('check/described_table.sql', {});

interface Row {
  readonly schema: string;
  readonly name: string;
  readonly columns: DescribedTable['columns'];
  readonly primary_key: readonly string[];
  readonly indexes: DescribedTable['indexes'];
  readonly partition_key: readonly string[];
}

async function describeTable(context: Context, text: string): Promise<DescribedTable> {
  const reading = readTableName(text);
  if ('wrong' in reading)
    throw new Failure(`--table ${JSON.stringify(text)} ${reading.wrong}`, { exitCode: 2 });
  const database = context.environment.DATABASE_URL || undefined;
  const { control } = await context.open({ database, schema: 'errata' });
  const name: TableName = reading.value;
  const { rows } = await inTransaction(control, 'read committed', (transaction) =>
    execute<Row>(transaction, statement, { schema: name.schema, name: name.name }),
  );
  const [row] = rows;
  if (!row) {
    throw new Failure(`there is no table or view ${text}`, {
      hint: 'write it as SCHEMA.TABLE, as the catalog spells it; capitals count',
      exitCode: 2,
    });
  }
  const { primary_key: primaryKey, partition_key: partitionKey, ...rest } = row;
  return { ...rest, primaryKey, partitionKey };
}

function write({ configPath, configFile }: Context, text: string, force: boolean): void {
  try {
    writeFileSync(configPath, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(configFile);
    throw new Failure(`${configFile} cannot be written`, {
      detail: (cause as Error).message,
      hint: 'name another place with --config',
      exitCode: 2,
      cause,
    });
  }
}

function isThere(file: string): Failure {
  return new Failure(`${file} is there already`, {
    hint: 'name another file with --config, or overwrite it with --force',
    exitCode: 2,
  });
}

/** The JSON Schema that editors read, where it lies below the file; else where an installed package would have it. */
function schemaLocation(configPath: string): string | undefined {
  const schema = ['../../schema/errata.schema.json', '../../../schema/errata.schema.json']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  if (schema === undefined) return undefined;
  const path = relative(dirname(configPath), schema);
  return path.startsWith('..') ? undefined : `./${path.replaceAll('\\', '/')}`;
}
