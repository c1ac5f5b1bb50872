/** Metrics parsed back and compared with the database; thresholds; and what a scrape reads after a long history. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { bindingsOf } from '../../src/catalog/bindings.ts';
import { metrics as verb } from '../../src/commands/metrics.ts';
import { status } from '../../src/commands/status.ts';
import type { AlertSettings } from '../../src/config/settings.ts';
import { loadStatement } from '../../src/db/sql.ts';
import { readFigures } from '../../src/report/metrics/figures.ts';
import { alertsOf, alertText } from '../../src/report/metrics/levels.ts';
import { metricsText } from '../../src/report/metrics/text.ts';
import { metrics as page } from '../../src/server/metrics.ts';
import { onFileEnd } from '../support/file-end.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { call, settingsOf } from './verb-context.ts';

/** `name{labels}` with the labels in order, and its value; every metric has HELP and TYPE before it. */
function parse(text: string): Map<string, number> {
  const found = new Map<string, number>();
  const declared = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (gauge|counter)$/.exec(line) ?? [];
    if (name && type) declared.set(name, type);
    if (line === '' || line.startsWith('#')) continue;
    const [, metric = '', labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    expect(`${line}: ${declared.get(metric)}`).toBe(
      `${line}: ${metric.endsWith('_total') ? 'counter' : 'gauge'}`,
    );
    const sorted = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)]
      .filter(([, label]) => label !== 'rollup')
      .map(([, label, of]) => `${label}=${of}`)
      .sort();
    found.set([metric, ...sorted].join(' '), Number(value));
  }
  return found;
}

/** Two refused orders of 25 and 26 hours, one of them from source B, and one late firing; all but the last are examined. */
async function story(): Promise<Orders> {
  const orders = await openOrders({
    policy: 'grace',
    bronze:
      '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, source_partition: source, complete_from: 2026-01-01 }',
    ddl: `create schema bronze;
      create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2), source text default 'A')`,
  });
  await orders.land('1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00', '3 10-30 11:00 10-31 12:30');
  await orders.run({ bound: '2026-10-31T13:00:00Z' });
  await orders.land('4 10-29 11:00 10-31 13:30', '5 10-29 12:00 10-31 14:00', '6 - - 10-31 14:00');
  await orders.database.pool.query("update bronze.orders set source = 'B' where order_id = '5'");
  await orders.run({ bound: '2026-10-31T15:00:00Z' });
  return orders;
}

async function read(orders: Orders, at?: string): Promise<Map<string, number>> {
  const settings = settingsOf(orders);
  return parse(await metricsText(await readFigures(orders.control, settings, settings.rollups, { at })));
}

const one = async <Row>(orders: Orders, sql: string): Promise<Row> => (await orders.rows<Row>(sql))[0] as Row;

test('each metric says what the database says', async () => {
  const orders = await story();
  const found = await read(orders);
  const run = await one<Record<string, string>>(
    orders,
    `select extract(epoch from max(finished_at)) as ended, count(*) as runs,
       sum((counts ->> 'rows_examined')::int) as examined, sum((counts ->> 'side_output')::int) as refused,
       sum((counts ->> 'late_firing')::int) as late_firing, sum((counts ->> 'windows_sealed')::int) as sealed,
       sum((counts ->> 'quarantined')::int) as quarantined
     from errata.run`,
  );
  const figure = (name: string) => found.get(name);
  expect(figure('errata_last_success_timestamp_seconds')).toBeCloseTo(Number(run.ended), 3);
  expect(figure('errata_last_run_timestamp_seconds')).toBeCloseTo(Number(run.ended), 3);
  expect(figure('errata_last_run_failed')).toBe(0);
  expect(figure('errata_runs_total')).toBe(2);
  expect(figure('errata_failed_runs_total')).toBe(0);
  expect(Number(run.refused)).toBe(2);
  expect(Number(run.late_firing)).toBe(1);
  expect(Number(run.quarantined)).toBe(1);
  expect(figure('errata_rows_examined_total')).toBe(Number(run.examined));
  expect(figure('errata_late_rows_total landing=side_output')).toBe(2);
  expect(figure('errata_late_rows_total landing=late_firing')).toBe(1);
  expect(figure('errata_quarantined_rows_total')).toBe(1);
  expect(figure('errata_windows_sealed_total')).toBe(Number(run.sealed));
  expect(figure('errata_pending_rows released=false')).toBe(2);
  expect(figure('errata_pending_rows released=true')).toBe(0);
  expect(figure('errata_side_output_share')).toBeCloseTo(2 / Number(run.examined), 9);
  const quantiles = await one<{ half: string; most: string }>(
    orders,
    `select percentile_cont(0.5) within group (order by lateness_seconds::float8)::text as half, max(lateness_seconds)::text as most
     from gold.daily_orders_late_event where landing in ('late_firing', 'side_output') and source_partition = 'A'`,
  );
  expect(figure('errata_late_rows_lateness_seconds percentile=50 source=A')).toBe(Number(quantiles.half));
  expect(figure('errata_late_rows_lateness_seconds percentile=100 source=A')).toBe(Number(quantiles.most));
  expect(figure('errata_late_rows_lateness_seconds percentile=99 source=B')).toBe(2 * 86_400 + 2 * 3600);
  const reach = await one<{ watermark: string; frontier: string; stages: Record<string, number> }>(
    orders,
    `select extract(epoch from sealed_until) as watermark, extract(epoch from frontier) as frontier,
       (select stage_milliseconds from errata.run order by run_id desc limit 1) as stages from errata.rollup`,
  );
  expect(figure('errata_watermark_timestamp_seconds')).toBe(Number(reach.watermark));
  expect(figure('errata_frontier_timestamp_seconds')).toBe(Number(reach.frontier));
  for (const [stage, time] of Object.entries(reach.stages))
    expect(figure(`errata_run_stage_seconds stage=${stage}`)).toBe(time / 1000);
  expect((await read(orders, '2026-10-31T16:00:00Z')).get('errata_watermark_lag_seconds')).toBe(5 * 3600);
  for (const waitsFor of ['run', 'seal', 'failing', 'blocked'])
    expect(figure(`errata_backlog_windows waits_for=${waitsFor}`)).toBe(0);
  expect(found.has('errata_unexplained_windows')).toBe(false);
  expect(figure('errata_notices_waiting')).toBe(0);
  expect(figure('errata_readable')).toBe(1);
});

test('backlog and its age, failures, a pause, proposals, the last sweep, an open transaction', async () => {
  const orders = await story();
  const { pool } = orders.database;
  await pool.query(
    `insert into errata.daily_orders_touched (window_start, window_end, region, cause, since)
     values ('2026-10-29 00:00Z', '2026-10-30 00:00Z', 'EU', 'source_change', '2026-10-31 15:00Z'),
            ('2026-10-30 00:00Z', '2026-10-31 00:00Z', 'US', 'source_change', '2026-10-31 15:30Z')`,
  );
  await pool.query('alter table bronze.orders rename to moved');
  await orders.run().catch(() => {});
  await pool.query(
    `insert into errata.reconciliation (rollup_id, range_from, range_to, snapshot, stamp, swept_at, counts, result_hash)
     values (1, '2026-10-01Z', '2026-11-01Z', pg_current_snapshot(), now(), '2026-10-31 15:00Z', '{"unexplained": "7"}', '')`,
  );
  await pool.query(
    "insert into errata.rollup_act (rollup_id, act, old_name, new_name, actor, reason, acted_at) values (1, 'pause', 'a', 'a', 'anna', 'why', now())",
  );
  const writer = await pool.connect();
  await writer.query('begin; create table public.written ()');
  const found = await read(orders, '2026-10-31T16:00:00Z');
  expect(found.get('errata_backlog_windows waits_for=run')).toBe(2);
  expect(found.get('errata_backlog_age_seconds waits_for=run')).toBe(3600);
  expect(found.get('errata_last_run_failed')).toBe(1);
  expect(found.get('errata_failed_runs_total')).toBe(1);
  expect(found.get('errata_runs_total')).toBe(2);
  expect(found.get('errata_paused')).toBe(1);
  expect(found.get('errata_unexplained_windows')).toBe(7);
  expect((await read(orders)).get('errata_open_transaction_seconds')).toBeGreaterThan(0);
  await writer.query('rollback');
  writer.release();
});

test('a rollup of which the ledger is gone, or that is not in the database, hides no other', async () => {
  const orders = await story();
  const settings = settingsOf(orders);
  const [rollup] = settings.rollups;
  if (!rollup) throw new Error('no rollup');
  const rollups = [rollup, { ...rollup, name: 'unknown' }];
  await orders.database.pool.query('alter table gold.daily_orders rename to away');
  const text = await metricsText(await readFigures(orders.control, settings, rollups));
  expect(text).toContain('errata_readable{rollup="daily_orders"} 0');
  expect(text).toContain('errata_runs_total{rollup="daily_orders"} 2');
  expect(text).not.toContain('unknown');
});

const level = (value: number, text: string) => ({ value, text });
const thresholds: AlertSettings = {
  stale: { warn: level(3600, '1 hour'), error: level(21_600, '6 hours') },
  backlog: { error: level(1800, '30 minutes') },
  unexplained: { warn: level(0, '0') },
  lateness: { warn: level(0.01, '1%'), error: level(0.9, '90%') },
};

test('thresholds: beyond is beyond, equal is within, and what is not known yet is within', async () => {
  const orders = await story();
  const settings = settingsOf(orders);
  const [rollup] = settings.rollups;
  if (!rollup) throw new Error('no rollup');
  const { rows } = await orders.database.pool.query(
    "select (max(finished_at) + interval '1 hour')::text as hour, (max(finished_at) + interval '1 hour 1 second')::text as beyond, (max(finished_at) + interval '6 hours')::text as six, (max(finished_at) + interval '7 hours')::text as far from errata.run",
  );
  const at = async (instant: string) => {
    const { rollups } = await readFigures(orders.control, settings, [{ ...rollup, alerts: thresholds }], {
      at: instant,
    });
    return alertsOf(rollups[0] as (typeof rollups)[number]).map(alertText);
  };
  expect(await at(rows[0].hour)).toEqual([
    'stale: within, 1 hour',
    'backlog: within, 0 seconds',
    'unexplained: within, no figure yet',
    'lateness: warn, 33.333%, more than 1%',
  ]);
  expect((await at(rows[0].beyond))[0]).toBe('stale: warn, 1 hour, more than 1 hour');
  expect((await at(rows[0].six))[0]).toBe('stale: warn, 6 hours, more than 1 hour');
  expect((await at(rows[0].far))[0]).toBe('stale: error, 7 hours, more than 6 hours');
});

test('errata status --fail-on: thresholds alone decide the exit code', async () => {
  const orders = await story();
  const failOn = async (list: string, alerts: AlertSettings) =>
    await call(
      status,
      { ...orders, rollup: { ...orders.rollup, settings: { ...orders.rollup.settings, alerts } } },
      [],
      { failOn: list },
    );
  // two events are pending, for which status alone ends with 3
  expect((await call(status, orders, [], {})).exitCode).toBe(3);
  const within = await failOn('stale,backlog', thresholds);
  expect(within.exitCode).toBe(0);
  expect(within.text).toContain('\n  alert       stale: within, 0 seconds');
  expect((await failOn('lateness', thresholds)).exitCode).toBe(3);
  const error = { lateness: { error: level(0.1, '10%') } };
  const failed = await failOn('lateness', error);
  expect(failed).toMatchObject({
    exitCode: 1,
    data: {
      rollups: [
        { rollup: 'daily_orders', alerts: [{ alert: 'lateness', level: 'error', error: { text: '10%' } }] },
      ],
    },
  });
  await expect(failOn('stale', error)).rejects.toMatchObject({
    message: 'an alert that is asked for has no threshold',
    detail: 'stale of daily_orders',
    exitCode: 2,
  });
  for (const bad of ['', 'stale,,backlog', 'late'])
    await expect(failOn(bad, thresholds)).rejects.toMatchObject({ exitCode: 2 });
  const text = await metricsText(
    await readFigures(orders.control, settingsOf(orders), [
      { ...orders.rollup.settings, alerts: thresholds },
    ]),
  );
  const found = parse(text);
  expect(found.get('errata_alert_level alert=lateness')).toBe(1);
  expect(found.get('errata_alert_level alert=stale')).toBe(0);
  expect(found.get('errata_alert_threshold alert=stale level=error')).toBe(21_600);
});

test('errata metrics --textfile: whole, or not at all; --json has no settings in it', async () => {
  const orders = await story();
  const directory = mkdtempSync(join(tmpdir(), 'errata-metrics-'));
  onFileEnd(async () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'errata.prom');
  const outcome = await call(verb, orders, [], { textfile: file });
  expect(outcome).toMatchObject({ exitCode: 0, text: '' });
  expect(parse(readFileSync(file, 'utf8')).get('errata_runs_total')).toBe(2);
  expect(readdirSync(directory)).toEqual(['errata.prom']);
  expect(JSON.stringify(outcome.data)).toMatch(/"rollups":\[\{"rollup":"daily_orders",/);
  expect(JSON.stringify(outcome.data)).not.toContain('bronze');
  await expect(call(verb, orders, [], { textfile: join(directory, 'errata.txt') })).rejects.toMatchObject({
    exitCode: 2,
  });
  writeFileSync(join(directory, 'taken'), '');
  await expect(
    call(verb, orders, [], { textfile: join(directory, 'taken', 'x.prom') }),
  ).rejects.toMatchObject({
    exitCode: 1,
  });
  expect(readdirSync(directory).sort()).toEqual(['errata.prom', 'taken']);
});

test('/metrics: scrapes at one time are one, and where no database answers it says so', async () => {
  const orders = await story();
  const logger = pino({ level: 'silent' });
  const app = page(orders.control, settingsOf(orders), logger);
  const answers = await Promise.all([1, 2, 3].map(() => app.request('/metrics')));
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(texts).size).toBe(1);
  expect(answers[0]?.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  await orders.database.pool.query('alter table errata.run_total rename to away');
  expect((await app.request('/metrics')).status).toBe(503);
  await orders.database.pool.query('alter table errata.away rename to run_total');
  expect((await app.request('/metrics')).status).toBe(200);
});

test('a scrape after a long history reads no more than after a short one', async () => {
  const orders = await story();
  const { pool } = orders.database;
  await pool.query(`
    insert into errata.run (rollup_id, verb, outcome, started_at, finished_at, counts)
    select 1, 'run', case when n between 500 and 3000 then 'failed' else 'done' end, now() - n * interval '1 hour', now() - n * interval '1 hour',
      '{"rows_examined": 10, "side_output": 1}'
    from generate_series(8000, 1, -1) as n;
    update errata.run set finished_at = now() - interval '1 year' where run_id <= 2;
    insert into errata.due_moment (rollup_id, due_at, first_due_at, missed, run_id)
    select 1, u.finished_at, u.finished_at, 0, u.run_id from errata.run as u where u.outcome = 'done' and u.run_id > 2;
    insert into gold.daily_orders_late_event (window_start, window_end, region, event_id, landing, state, cause, version, released, lateness_seconds, row_digest, first_run_id)
    select '2026-10-01Z', '2026-10-02Z', 'EU', 'old ' || n, 'side_output', 'included', 'refused', 2, true, n, '', 3 + n / 3
    from generate_series(1, 20000) as n;
    analyze`);
  const pagesRead = async (path: string, values: unknown[]) => {
    const { rows } = await pool.query(
      `explain (analyze, buffers, format json) ${loadStatement(path, bindingsOf(orders.rollup))}`,
      values,
    );
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  const { rows: sizes } = await pool.query(
    "select (pg_relation_size('errata.run') + pg_relation_size('gold.daily_orders_late_event')) / 8192 as pages",
  );
  expect(Number(sizes[0].pages)).toBeGreaterThan(400);
  const { rows: recent } = await pool.query(
    "select min(run_id) as first from errata.run where finished_at > now() - interval '1 day'",
  );
  expect(await pagesRead('report/metrics/standing.sql', [['daily_orders'], null])).toBeLessThan(150);
  expect(await pagesRead('report/metrics/lateness.sql', [recent[0].first])).toBeLessThan(50);
  expect(await pagesRead('report/metrics/pending.sql', [])).toBeLessThan(20);
  expect(await pagesRead('schedule/standing.sql', ['daily_orders', '0 * * * *', 'UTC', null])).toBeLessThan(
    20,
  );
});
