/** A site with roles: one that owns bronze, and the four of the settings, each with connections of its own. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { parseSettings } from '../../src/config/read-settings.ts';
import type { Settings } from '../../src/config/settings.ts';
import { type Control, controlOf } from '../../src/db/control.ts';
import { createPool } from '../../src/db/pool.ts';
import { migrateAll } from '../../src/install/install.ts';
import { openTestDatabase, type TestDatabase } from './database.ts';
import { onFileEnd } from './file-end.ts';

export type Part = 'job' | 'stream' | 'reader' | 'auditor';

/** What a site calls its things; roles get a random end, since they belong to the whole server. */
export interface Names {
  readonly control: string;
  readonly gold: string;
  readonly ledger: string;
  readonly bronze: string;
  readonly table: string;
  readonly id: string;
  readonly key: string;
  readonly measure: string;
  readonly role: (part: Part) => string;
}

export const plainNames: Names = {
  control: 'errata',
  gold: 'gold',
  ledger: 'daily_orders',
  bronze: 'bronze',
  table: 'orders',
  id: 'order_id',
  key: 'region',
  measure: 'revenue',
  role: (part) => `errata_${part}`,
};

export interface Site {
  readonly names: Names;
  readonly database: TestDatabase;
  readonly settings: Settings;
  readonly roles: Readonly<Record<Part, string>>;
  /** As the role, by a login of its own. */
  readonly pools: Readonly<Record<Part, pg.Pool>>;
  readonly urls: Readonly<Record<Part, string>>;
  readonly controls: Readonly<Record<Part, Control>>;
  readonly yaml: string;
  /** Quoted: of the ledger's schema with this ending, of the control schema, of bronze. */
  gold(ending?: string): string;
  control(name: string): string;
  readonly bronze: string;
  /** `id event_time ingested_at [key [amount]]` of 2026 in UTC. */
  land(...rows: string[]): Promise<void>;
  /** The settings after a change of their text. */
  changed(change: (yaml: string) => string): Settings;
}

export interface SiteOptions {
  readonly names?: Names;
  readonly window?: string;
  readonly seal?: string;
  readonly watermark?: string;
  readonly lateness?: string;
  readonly policy?: string;
  /** Key columns after the first, as in `, region`. */
  readonly furtherKeys?: string;
  readonly bronze?: string;
  readonly measures?: string;
  /** Runs before `migrate`; is given the job's role, quoted. */
  readonly before?: (job: string) => string;
}

const parts = ['job', 'stream', 'reader', 'auditor'] as const;
const quoted = pg.escapeIdentifier;
const inYaml = (text: string) => JSON.stringify(text);

export async function openSite(options: SiteOptions = {}): Promise<Site> {
  const database = await openTestDatabase();
  const names = options.names ?? plainNames;
  const end = randomBytes(4).toString('hex');
  const roles = Object.fromEntries(parts.map((part) => [part, names.role(part) + end])) as Record<
    Part,
    string
  >;
  const bronze = `${quoted(names.bronze)}.${quoted(names.table)}`;
  const tableName = (schema: string, name: string) => inYaml(`${quoted(schema)}.${quoted(name)}`);
  await database.pool.query(`
    create schema ${quoted(names.bronze)};
    create table ${bronze} (${quoted(names.id)} text, at timestamptz, landed timestamptz, ${quoted(names.key)} text, amount numeric(12,2));
    ${parts.map((part) => `create role ${quoted(roles[part])} login password ${pg.escapeLiteral(`${part} password`)};`).join('\n')}
    grant usage on schema ${quoted(names.bronze)} to ${quoted(roles.job)};
    grant select on ${bronze} to ${quoted(roles.job)}`);
  const yaml = `
schema: ${inYaml(names.control)}
roles: { ${parts.map((part) => `${part}: ${inYaml(roles[part])}`).join(', ')} }
rollups:
  daily_orders:
    gold: ${tableName(names.gold, names.ledger)}
    bronze: { table: ${tableName(names.bronze, names.table)}, event_id: ${inYaml(names.id)}, event_time: at, ingested_at: landed, complete_from: 2026-01-01${options.bronze ?? ''} }
    window: ${options.window ?? '{ calendar: 1 day, time_zone: UTC }'}
    key: [${inYaml(names.key)}${options.furtherKeys ?? ''}]
    measures: ${options.measures ?? `{ orders: count(*), ${inYaml(names.measure)}: sum(amount) }`}
    watermark: ${options.watermark ?? '{ strategy: bounded, delay: 1 hour }'}
    allowed_lateness: ${options.lateness ?? '0'}
    seal: ${options.seal ?? '{ by: errata }'}
    publish: { policy: ${options.policy ?? 'auto'} }
`;
  if (options.before) await database.pool.query(options.before(quoted(roles.job)));
  const settings = parseSettings(yaml, 'errata.yaml', {});
  // As the superuser of the tests, who acts as the job.
  await migrateAll(controlOf(database.pool, settings.schema), settings);
  const urls = Object.fromEntries(
    parts.map((part) => {
      const url = new URL(database.url);
      url.username = encodeURIComponent(roles[part]);
      url.password = encodeURIComponent(`${part} password`);
      return [part, url.href];
    }),
  ) as Record<Part, string>;
  const pools = Object.fromEntries(parts.map((part) => [part, createPool(urls[part], { max: 3 })])) as Record<
    Part,
    pg.Pool
  >;
  onFileEnd(async (failed) => {
    for (const pool of Object.values(pools)) await pool.end();
    if (failed) return;
    const server = createPool(database.url);
    // What they own goes with them; the rest of the database goes after them.
    for (const role of Object.values(roles))
      await server.query(`drop owned by ${quoted(role)} cascade; drop role ${quoted(role)}`);
    await server.end();
  });
  return {
    names,
    database,
    settings,
    roles,
    pools,
    urls,
    controls: Object.fromEntries(
      parts.map((part) => [part, controlOf(pools[part], settings.schema)]),
    ) as Record<Part, Control>,
    yaml,
    gold: (ending = '') => `${quoted(names.gold)}.${quoted(names.ledger + ending)}`,
    control: (name) => `${quoted(names.control)}.${quoted(name)}`,
    bronze,
    land: async (...rows) => {
      for (const row of rows) {
        const [id, day, time, landedOn, landedAt, key = 'EU', amount = '10'] = row.split(' ');
        await database.pool.query(`insert into ${bronze} values ($1, $2, $3, $4, $5)`, [
          id,
          `2026-${day} ${time}+00`,
          `2026-${landedOn} ${landedAt}+00`,
          key,
          amount,
        ]);
      }
    },
    changed: (change) => parseSettings(change(yaml), 'errata.yaml', {}),
  };
}
