/** The front door: its figures, each worked out by hand from `examples/`, and the commands that it prints. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoReport, playDemo } from '../../src/report/demo/demo.ts';
import { nextLines } from '../../src/report/demo/next.ts';
import { demoText } from '../../src/report/demo/text.ts';
import { shellWord } from '../../src/report/shell.ts';
import { readGitTotals } from '../cases/git-history.ts';
import { openTestDatabase } from '../support/database.ts';

describe('what it finds', () => {
  let report: DemoReport;
  let text: string;

  beforeAll(async () => {
    const { pool } = await openTestDatabase();
    report = await playDemo(pool, () => {});
    text = demoText(report, 'a test');
  }, 120_000);

  test('orders: the runs, and what they sealed and corrected', () => {
    // 1,381 + 1,396 + 1,410 + 1,403 + 1,378 + 1,412 + 1,440 + 1,389 + 1,368 rows by day, and one from a wrong clock
    expect(report.orders.counts).toMatchObject({
      rows_examined: '12578',
      // 8 days of 3 regions: 2026-11-03 is still open
      windows_sealed: '24',
      // 2026-10-27 EU, 2026-10-30 EU, 2026-10-31 EU and APAC
      windows_corrected: '4',
      late_firing: '6',
      side_output: '1',
      events_pending: '1',
      quarantined: '1',
      conflicts: '1',
    });
    expect(report.orders.runs.map((run) => run.bound)).toEqual([
      '2026-11-01 00:00:00+00',
      '2026-11-04 00:00:00+00',
    ]);
  });

  test('orders: 1,402 shipped on 2026-10-29 and stand; 1,403 with order 8841', () => {
    const check = { sealed: '1402', corrections: '0', latest: '1402', pending: '1', restated: '1403' };
    expect(report.day[0]).toMatchObject({ measure: 'orders', ...check, adds_up: true });
    // ids 7787 to 9189, every first and third of five is of the EU: 561 of 1,403, one of them 8841
    const eu = report.orders.moved.find(({ window_start: start }) => start === '2026-10-29 00:00:00+00');
    expect(eu).toMatchObject({ key: { region: 'EU' }, version: 1 });
    expect(eu?.measures.orders).toEqual({
      sealed: '560',
      corrections: '0',
      latest: '560',
      pending: '1',
      restated: '561',
    });
  });

  test('orders: order 8841 by name, with the window end it missed and the watermark that refused it', () => {
    expect(report.orders.refused).toMatchObject([
      {
        event_id: '8841',
        key: { region: 'EU' },
        event_time: '2026-10-29 18:02:00+00',
        arrived_at: '2026-11-01 00:10:50+00',
        window_end: '2026-10-30 00:00:00+00',
        watermark: '2026-11-01 00:00:00+00',
        state: 'pending',
        measures: { orders: '1', revenue: '99.50' },
      },
    ]);
    expect(text).toContain('order 8841: region EU, orders 1, revenue 99.50; pending: it awaits a person');
    expect(text).toContain('its window ended 2026-10-30 00:00:00Z and took late events for 24 hours');
    expect(text).toContain('the watermark stood at 2026-11-01 00:00:00Z when it arrived');
  });

  test('orders: what is set aside, the conflict with both values, the copy', () => {
    expect(report.orders.quarantined).toMatchObject([
      { event_id: '990001', quarantine_reason: 'event_time_ahead_of_arrival' },
    ]);
    expect(report.orders.copies).toEqual(['7001']);
    // order 9777 costs 4.90 + 77,424,063 cents modulo 195.00
    expect(text).toContain('APAC, 95.53 came first and counts; APAC, 955.30 does not');
  });

  test('orders: the sum check, to the cent, against the amounts by their formula', () => {
    let cents = 0n;
    for (let id = 3601n; id <= 14807n; id++) cents += id === 8841n ? 9950n : 490n + ((id * 7919n) % 19500n);
    const revenue = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
    expect(report.orders.recount).toEqual({ orders: '11207', revenue });
    const nothing = { held: '0', waived: '0', adds_up: true };
    expect(report.orders.check).toMatchObject([
      {
        measure: 'orders',
        sealed: '11200',
        corrections: '6',
        latest: '11206',
        pending: '1',
        restated: '11207',
      },
      { measure: 'revenue', pending: '99.50', restated: revenue, recounted: revenue, unexplained: '0.00' },
    ]);
    expect(report.orders.check[0]).toMatchObject(nothing);
    expect(text.match(/It adds up: /g)).toHaveLength(2);
  });

  test('git: the totals that three independent programs computed', () => {
    const totals = readGitTotals('1d_grace_2d');
    expect(report.git.counts).toMatchObject({
      rows_examined: String(totals.rows),
      windows_sealed: String(totals.version_1),
      windows_corrected: String(totals.corrected_under_auto),
      quarantined: String(totals.quarantined),
    });
    const measures = report.git.check.map(({ sealed, latest, restated, recounted }) => [
      Number(sealed),
      Number(latest),
      Number(restated),
      Number(recounted),
    ]);
    expect(measures).toEqual(
      totals.sealed_total.map((sealed, place) => [sealed, ...Array(3).fill(totals.latest_total_auto[place])]),
    );
    expect(text).toContain('sealed      20,215 keyed windows');
  });
});

describe('as a newcomer runs it', () => {
  const state = mkdtempSync(join(tmpdir(), 'errata demo '));
  chmodSync(state, 0o755);
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const shell = (command: string) => run(command, root, state);

  afterAll(async () => {
    await shell('node bin/errata.mjs demo --remove');
    rmSync(state, { recursive: true, force: true });
  }, 60_000);

  test('each printed command works as printed, in order, and the demo can be repeated', {
    timeout: 180_000,
  }, async () => {
    const demo = 'node bin/errata.mjs demo';
    const first = await shell(demo);
    expect(first).toMatchObject({ exitCode: 0 });
    const again = await shell(demo);
    expect(again.exitCode).toBe(0);
    const figures = (text: string) => text.slice(0, text.indexOf('It took'));
    expect(figures(again.stdout)).toBe(figures(first.stdout));

    const printed = again.stdout
      .slice(again.stdout.indexOf('NEXT,'))
      .split('\n')
      .filter((line) => /^ {2}(export|node) /.test(line))
      .map((line) => line.trim());
    const [settings = '', explain = '', publish = '', , status = '', stop = '', remove = ''] = printed;
    expect((await shell(`${settings}\n${explain}`)).stdout).toContain('pending: it awaits a person');
    expect((await shell(`${settings}\n${status}`)).exitCode).toBe(3);
    const published = await shell(`${settings}\n${publish}`);
    expect(published.exitCode).toBe(0);
    expect(published.stdout).toMatch(/2026-10-29 +EU +correct +orders +560 +561 +\+1 +refused +8841/);
    expect((await shell(`${settings}\n${explain}`)).stdout).toContain('version 2, a correction by ada');
    expect(await shell(`${settings}\n${status}`)).toMatchObject({ exitCode: 0 });
    expect((await shell(stop)).stdout).toContain('is stopped; its data stay');
    expect((await shell(remove)).stdout).toContain('its data are removed');
  });

  test('from another directory the printed paths are absolute', () => {
    const lines = nextLines(
      'postgresql://postgres:p@127.0.0.1:1/errata_demo?sslmode=disable',
      '/elsewhere/entirely',
      '/data',
    ).join('\n');
    expect(lines).toContain(`ERRATA_CONFIG=${shellWord(join(root, 'examples/orders/errata.yaml'))}`);
    expect(lines).toContain(`node ${shellWord(join(root, 'bin/errata.mjs'))} status`);
  });

  test('what a shell would read something into is quoted', () => {
    expect(shellWord('a/b-1.yaml')).toBe('a/b-1.yaml');
    expect(shellWord("O'Brien $x")).toBe("'O'\\''Brien $x'");
  });
});

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
}

/** As in a shell of the newcomer's: the state directory is a test's own, nothing else is set. */
function run(command: string, directory: string, state: string): Promise<Ended> {
  const { DATABASE_URL: _, ERRATA_CONFIG: __, ...environment } = process.env;
  const env = { ...environment, ERRATA_STATE_DIR: state };
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { cwd: directory, env }, (error, stdout, stderr) => {
      const code = error?.code ?? 0;
      if (typeof code !== 'number') reject(error);
      else {
        if (code === 1) process.stderr.write(stderr);
        resolve({ exitCode: code, stdout });
      }
    });
  });
}
