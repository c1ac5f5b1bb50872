/** `docs/evidence.md`, carried out: its SQL alone comes to the head that `errata digest` prints. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { digest } from '../../src/commands/digest.ts';
import { verify } from '../../src/commands/verify.ts';
import type { DigestEntry } from '../../src/report/evidence/digest.ts';
import { workDirectory } from '../commands/command.ts';
import { call } from '../report/verb-context.ts';
import { openOrders } from '../support/orders.ts';
import { compare } from './compare.ts';
import { psqlText } from './psql-text.ts';

const file = fileURLToPath(new URL('../../docs/evidence.md', import.meta.url));

test('what each statement shows; its head is that of errata digest, before and after a cell was edited', async () => {
  const orders = await openOrders();
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01',
    'c 10-29 11:00 10-29 11:02 NULL',
    'pass 10-30 02:00 10-30 02:01 ZZ 1',
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
  await orders.run({ bound: '2026-10-30T05:00Z' });
  const { text, data } = await call(digest, orders, [], {});
  const { head } = (data as { rollups: DigestEntry[] }).rollups[0] as DigestEntry;
  const path = join(workDirectory(), 'digest.txt');
  writeFileSync(path, text);

  // A session of its own, whose settings are the document's.
  const client = await orders.database.pool.connect();
  let [shown, edit, heads] = ['', '', 0];
  let value: unknown;
  await compare(
    file,
    async (kind, block) => {
      if (kind === 'sql superuser') {
        edit = block;
        await client.query(block);
      } else if (kind === 'sh') {
        const outcome = await (block.startsWith('errata digest')
          ? call(digest, orders, [], {})
          : call(verify, orders, [], { digest: path }));
        expect(outcome.exitCode).toBe(edit === '' ? 0 : 3);
        shown = `${outcome.text}\n`;
        // The document goes on with what was published.
        if (edit !== '') await client.query(edit.replace('21.00', '20.00'));
      } else if (kind === 'sql') {
        const result = await client.query(block);
        if (block.startsWith('with recursive')) {
          heads++;
          expect(result.rows.at(-1)).toMatchObject({ head, recorded: true });
          await client.query(edit);
          const { rows } = await client.query(block);
          expect(rows.map((row) => row.recorded)).toEqual([false, false]);
          await client.query(edit.replace('21.00', '20.00'));
        }
        shown = psqlText(result);
        value = Object.values(result.rows?.[0] ?? {})[0];
      }
      if (kind === 'text value') return `${value}\n`;
      return kind === 'text' ? shown : undefined;
    },
    masked,
  );
  client.release();
  expect(heads).toBe(1);
});

/** Without hashes, fingerprints, the role, instants of this day, and widths. */
function masked(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'HASH')
    .replaceAll(/"definition_fingerprint":"[0-9a-f]{16}"/g, 'FINGERPRINT')
    .replaceAll(/"db_role":"[^"]+"/g, 'ROLE')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z?/g, 'INSTANT')
    .replaceAll(/-{3,}/g, '---')
    .replaceAll(/ {2,}/g, '  ');
}
