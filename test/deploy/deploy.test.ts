/** What lies in `deploy/`: the alerts fire when they should, and every metric and command that is named there exists. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { verbs } from '../../src/cli/verbs.ts';
import { cronFields, readCron } from '../../src/config/cron.ts';
import { metricsText } from '../../src/report/metrics/text.ts';
import { onFileEnd } from '../support/file-end.ts';

const root = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const promtool = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  .map((directory) => join(directory, 'promtool'))
  .find((path) => existsSync(path));
if (!promtool) console.warn("No promtool (Debian's package prometheus): the tests with it are skipped.");

/** Every metric that is ever written, of a rollup that has a value for each. */
async function everyMetric(): Promise<string> {
  const level = { value: 1, text: '1' };
  return await metricsText({
    noticesWaiting: 0,
    openTransactionSeconds: 0,
    rollups: [
      {
        rollup: { name: 'daily_orders', alerts: { stale: { warn: level, error: level } } } as never,
        now: 2,
        createdAt: 1,
        lastRunAt: 1,
        lastSuccessAt: 1,
        frontier: 1,
        watermark: 1,
        answeredUntil: 1,
        reconciledAt: 1,
        lastRunFailed: false,
        isPaused: false,
        scheduleFailures: 0,
        openProposals: 0,
        unexplained: 0,
        sideOutputShare: 0,
        stages: { scan: 1 },
        totals: {},
        own: {
          backlog: [],
          pending: { unreleased: 0, released: 0 },
          lateness: [{ source: 'a "quoted" \\ one', percentiles: { '50': 1, '90': 1, '99': 1, '100': 1 } }],
        },
      },
    ],
  });
}

const namesIn = (text: string) => new Set(text.match(/\berrata_[a-z_]+\b/g));

test.each(['prometheus/errata.rules.yml', 'prometheus/errata.rules.test.yml', 'grafana/errata.json'])(
  '%s names no metric that is not there',
  async (path) => {
    const written = namesIn(await everyMetric());
    const named = [...namesIn(read(path))];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !written.has(name))).toEqual([]);
  },
);

test('the dashboard shows every metric that tells of a rollup’s work', async () => {
  const shown = namesIn(read('grafana/errata.json'));
  for (const name of [
    'errata_last_success_timestamp_seconds',
    'errata_run_stage_seconds',
    'errata_rows_examined_total',
    'errata_late_rows_total',
    'errata_quarantined_rows_total',
    'errata_late_rows_lateness_seconds',
    'errata_windows_corrected_total',
    'errata_backlog_windows',
    'errata_backlog_age_seconds',
    'errata_pending_rows',
    'errata_unexplained_windows',
    'errata_open_transaction_seconds',
    'errata_watermark_lag_seconds',
    'errata_side_output_share',
  ])
    expect(shown).toContain(name);
});

test('the thresholds of the rules are those of the settings: none is written into them', () => {
  const rules = read('prometheus/errata.rules.yml');
  expect(rules).toContain('errata_alert_threshold{alert="stale", level="error"}');
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  const tested = new Set(
    [...read('prometheus/errata.rules.test.yml').matchAll(/alertname: (\w+)/g)].map(([, name]) => name),
  );
  expect(alerts.filter((name) => !tested.has(name))).toEqual([]);
});

describe.skipIf(!promtool)('promtool', () => {
  const run = (...args: string[]) =>
    execFileSync(promtool as string, args, {
      cwd: join(root, 'prometheus'),
      encoding: 'utf8',
      stdio: 'pipe',
    });

  test('the rules are rules, and fire when they should', () => {
    expect(run('check', 'rules', 'errata.rules.yml')).toContain('SUCCESS');
    expect(run('test', 'rules', 'errata.rules.test.yml')).toContain('SUCCESS');
  });

  test('the metrics keep to the conventions', async () => {
    const metrics = await everyMetric();
    // it complains on stderr, with exit code 3
    expect(execFileSync(promtool as string, ['check', 'metrics'], { input: metrics, encoding: 'utf8' })).toBe(
      '',
    );
  });

  test('what is to be scraped can be read', () => {
    const directory = mkdtempSync(join(tmpdir(), 'errata-scrape-'));
    onFileEnd(async () => rmSync(directory, { recursive: true, force: true }));
    expect(run('check', 'config', '--syntax-only', 'scrape.yml')).toContain('SUCCESS');
  });
});

describe('schedulers', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(cron|systemd|kubernetes)\/./.test(path),
  );

  test.each(files)('%s calls verbs that exist', (path) => {
    const called = [...read(path).matchAll(/errata\.mjs,? (\w+)/g)].map(([, verb]) => verb);
    const known = verbs.map(({ name }) => name);
    expect(called.filter((verb) => !known.includes(verb as string))).toEqual([]);
    if (!path.endsWith('.timer')) expect(called.length).toBeGreaterThan(0);
  });

  test('the crontab has five fields, an account and a command', () => {
    const lines = read('cron/errata')
      .split('\n')
      .filter((line) => /^[*\d]/.test(line));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const [, fields = '', account] = /^((?:\S+\s+){5})(\S+)\s+\S/.exec(line) ?? [];
      expect(readCron(fields.trim().replaceAll(/\s+/g, ' '))).toHaveProperty('value');
      expect(account).toBe('errata');
      // cron takes a % for a line end
      expect(line).not.toContain('%');
    }
  });

  test('the manifests are what they should be', () => {
    const [cronJob] = parseAllDocuments(read('kubernetes/cronjob.yaml')).map((one) => one.toJS());
    expect(cronJob).toMatchObject({
      kind: 'CronJob',
      spec: { timeZone: 'Etc/UTC', concurrencyPolicy: 'Forbid', jobTemplate: { spec: { backoffLimit: 0 } } },
    });
    expect(cronFields(cronJob.spec.schedule).minutes).toEqual([0, 15, 30, 45]);
    const [deployment] = parseAllDocuments(read('kubernetes/serve.yaml')).map((one) => one.toJS());
    const [container] = deployment.spec.template.spec.containers;
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 8787 });
    expect(container.env.map(({ name }: { name: string }) => name)).toContain('ERRATA_SERVE_TOKEN');
  });

  test('an exit code that asks for a person is no failure of the scheduler’s', () => {
    const [cronJob] = parseAllDocuments(read('kubernetes/cronjob.yaml')).map((one) => one.toJS());
    const [{ command }] = cronJob.spec.jobTemplate.spec.template.spec.containers;
    const script = (command[2] as string).replace(/^node \S+ run/, '(exit $0)');
    const ended = (code: number) => {
      try {
        execFileSync('/bin/sh', ['-c', script, String(code)]);
        return 0;
      } catch (error) {
        return (error as { status: number }).status;
      }
    };
    expect([0, 1, 2, 3, 4].map(ended)).toEqual([0, 1, 2, 0, 0]);
  });

  test('SIGTERM to the shell of the job reaches the run, and its exit code comes back', async () => {
    const [cronJob] = parseAllDocuments(read('kubernetes/cronjob.yaml')).map((one) => one.toJS());
    const [{ command }] = cronJob.spec.jobTemplate.spec.template.spec.containers;
    const run = `node -e "process.on('SIGTERM', () => setTimeout(() => process.exit(143), 100)); console.log('up'); setTimeout(() => {}, 20000)"`;
    const shell = spawn('/bin/sh', ['-c', (command[2] as string).replace(/^node \S+ run/, run)]);
    await once(shell.stdout, 'data');
    shell.kill('SIGTERM');
    const [code] = await once(shell, 'exit');
    expect(code).toBe(143);
  });

  test('what cron reads from its file reaches the run', () => {
    const [line = ''] = read('cron/errata')
      .split('\n')
      .filter((one) => one.startsWith('*/15'));
    const directory = mkdtempSync(join(tmpdir(), 'errata-cron-'));
    onFileEnd(async () => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, 'environment'), 'DATABASE_URL=postgresql://somewhere\n');
    const script = line
      .replace(/^(\S+\s+){6}/, '')
      .replace('/etc/errata/environment', join(directory, 'environment'))
      .replace(/node \S+ run/, 'printenv DATABASE_URL')
      .replaceAll('/var/log/errata/run.log', join(directory, 'run.log'));
    execFileSync('/bin/sh', ['-c', script], { env: { PATH: process.env.PATH } });
    expect(readFileSync(join(directory, 'run.log'), 'utf8')).toBe('postgresql://somewhere\n');
  });
});
