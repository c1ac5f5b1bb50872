/** `errata digest` and `errata verify` as a shell sees them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOrders, ordersYaml } from '../support/orders.ts';
import { errata, workDirectory } from './command.ts';

test('a digest is kept; a cell is edited: exit code 3, and the version by name', async () => {
  const orders = await openOrders();
  const directory = workDirectory(ordersYaml());
  await orders.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ 1');
  await orders.run({ bound: '2026-10-30T03:00Z' });
  const run = (...args: string[]) => errata(directory, orders.database.url, ...args);

  const [text, json] = [await run('digest'), await run('digest', 'daily_orders', '--json')];
  expect([text.exitCode, json.exitCode, text.stderr]).toEqual([0, 0, '']);
  const [entry] = JSON.parse(json.stdout).rollups;
  expect(text.stdout).toContain(`${entry.head}    1  ${entry.stamp}         1        0  daily_orders\n`);
  writeFileSync(join(directory, 'digest.txt'), text.stdout);
  writeFileSync(join(directory, 'digest.json'), json.stdout);

  const whole = await run('verify', '--digest', 'digest.txt');
  expect(whole.exitCode).toBe(0);
  expect(whole.stdout).toContain('its head is link 1 of 1, run 1');
  expect(whole.stderr).toContain('daily_orders: comparing 1 version with their hashes');

  await orders.rows(
    'alter table gold.daily_orders disable trigger user; update gold.daily_orders set revenue = 11',
  );
  const altered = await run('verify', 'daily_orders', '--digest', 'digest.json', '--json');
  expect(altered.exitCode).toBe(3);
  expect(JSON.parse(altered.stdout).rollups).toMatchObject([
    {
      rollup: 'daily_orders',
      holds: false,
      wrong_versions: [{ what: 'altered', version: 1, run_id: '1', key: { region: 'EU' } }],
      digest: { holds: true, head: entry.head },
    },
  ]);

  const missing = await run('verify', '--digest', 'nowhere.txt');
  expect(missing).toMatchObject({ exitCode: 2, stdout: '' });
  expect(missing.stderr).toContain('the digest nowhere.txt cannot be read\n  detail: ENOENT');
});
