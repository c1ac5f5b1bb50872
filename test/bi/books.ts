/**
 * What the tools read: days of Berlin by account (a 64-bit id) and region (which may be NULL). One account is case B27, one holds an
 * amount beyond 2^53 with a proposal open, one is void, one day is still open.
 */
import { openRollup } from '../../src/catalog/open.ts';
import type { RollupSettings } from '../../src/config/settings.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { openSite, plainNames, type Site } from '../support/site.ts';

/** Two neighbours that are one number for a float. */
export const accounts = { corrected: '9007199254740993', large: '9007199254740992', void: '7' } as const;

export async function openBooks(): Promise<Site> {
  const site = await openSite({
    names: { ...plainNames, key: 'account_id' },
    furtherKeys: ', region',
    window: '{ calendar: 1 day, time_zone: Europe/Berlin }',
    measures: '{ orders: count(*), revenue: sum(amount), largest: max(amount) }',
    policy: 'auto, review_beyond: { revenue: 1000 }',
    before: () =>
      `alter table bronze.orders
         alter account_id type bigint using account_id::bigint,
         alter amount type numeric,
         add region text`,
  });
  const control = site.controls.job;
  const settings = site.settings.rollups[0] as RollupSettings;
  const rollup = () => openRollup(control, site.settings, settings);
  const run = async (bound: string) => await runRollup(control, await rollup(), { bound });
  const land = async (...rows: string[]) => {
    for (const row of rows) {
      const [id, at, landed, account, region, amount] = row.split(' ');
      await site.database.pool.query(
        'insert into bronze.orders (order_id, at, landed, account_id, region, amount) values ($1, $2, $3, $4, $5, $6)',
        [id, `2026-10-${at}Z`, `2026-10-${landed}Z`, account, region === 'NULL' ? null : region, amount],
      );
    }
  };
  await site.database.pool.query(`
    create schema crm;
    create table crm.account (account_id bigint primary key, segment text);
    insert into crm.account values (${accounts.corrected}, 'retail'), (${accounts.large}, 'bank'), (${accounts.void}, 'test');
    grant usage on schema crm to ${site.roles.reader};
    grant select on crm.account to ${site.roles.reader}`);

  await land(
    `a 29T10:00 29T10:01 ${accounts.corrected} NULL 60.00`,
    `b 29T11:00 29T11:01 ${accounts.corrected} NULL 40.00`,
    `x 29T10:00 29T10:01 ${accounts.large} EU 90071992547409931.25`,
    `t 29T10:00 29T10:01 ${accounts.void} EU 5.00`,
    `o 30T02:00 30T02:01 ${accounts.corrected} NULL 8.00`,
  );
  await run('2026-10-30T03:00Z');
  await makeMark(control, site.settings, 'as shipped', 'ada');
  await land(`c 29T12:00:00.123456 30T04:00:00.000001 ${accounts.corrected} NULL 25.00`);
  await run('2026-10-30T05:00Z');
  await land(
    `d 29T13:00 30T06:00 ${accounts.corrected} NULL 25.00`,
    `y 29T13:00 30T06:00 ${accounts.large} EU 2000.25`,
  );
  await run('2026-10-30T07:00Z');
  await site.database.pool.query(`delete from bronze.orders where order_id = 't'`);
  const day = { windowFrom: '2026-10-28T23:00Z', windowTo: '2026-10-29T23:00Z' };
  await amendWindows(
    control,
    await rollup(),
    { actor: 'ada', reason: 't was a test', ...day },
    { bound: '2026-10-30T08:00Z' },
  );
  return site;
}
