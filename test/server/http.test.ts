/** Who is answered, and with which headers: requests to the application itself, without a port. */
import { Hono } from 'hono';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { controlOf } from '../../src/db/control.ts';
import { createPool } from '../../src/db/pool.ts';
import { health } from '../../src/server/health.ts';
import { httpApp } from '../../src/server/http.ts';
import { readListen, readToken } from '../../src/server/listen.ts';
import { openServers } from '../schedule/servers.ts';

const token = 'a-token-of-twenty-two';
const said: string[] = [];
const logger = pino({ level: 'error' }, { write: (line: string) => void said.push(line) });

function app(with_: string | undefined) {
  const open = new Hono();
  open.get('/healthz', (context) => context.text('ok\n'));
  const guarded = new Hono();
  guarded.get('/metrics', (context) => context.text('errata_up 1\n'));
  guarded.get('/broken', () => {
    throw new Error('postgres://etl:secret@db/x is gone');
  });
  return httpApp({ token: with_, logger, open, guarded });
}

const ask = async (
  with_: string | undefined,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
) =>
  await app(with_).request(`http://127.0.0.1:8787${path}`, {
    method,
    headers: { host: '127.0.0.1:8787', ...headers },
  });

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('without a token', () => {
  test.each([
    ['127.0.0.1:8787', 200],
    ['localhost', 200],
    ['[::1]:8787', 200],
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost.evil.example:80', 421],
  ])('the host %s is answered with %i', async (host, status) => {
    expect((await ask(undefined, '/metrics', { host })).status).toBe(status);
  });
});

describe('with a token', () => {
  test.each([
    [{}, 401],
    [{ authorization: token }, 401],
    [{ authorization: `Bearer ${token}x` }, 401],
    [{ authorization: `Bearer ${token.slice(1)}` }, 401],
    [{ authorization: `Basic ${token}` }, 401],
    [{ authorization: basic(`${token}:`) }, 401],
    [{ authorization: basic(`ada:${token}x`) }, 401],
    [{ authorization: basic(token) }, 401],
    [{ authorization: basic(`ada:${token}`) }, 200],
    [{ authorization: basic(`:${token}`).replace('Basic', 'basic'), host: 'errata.internal' }, 200],
    [{ authorization: `Bearer ${token}` }, 200],
    [{ authorization: `bearer ${token}`, host: 'errata.internal' }, 200],
  ])('%j is answered with %i', async (headers, status) => {
    const answer = await ask(token, '/metrics', headers as Record<string, string>);
    expect(answer.status).toBe(status);
    if (status === 401) {
      expect(answer.headers.get('www-authenticate')).toBe(
        'Basic realm="errata", charset="UTF-8", Bearer realm="errata"',
      );
      expect(await answer.text()).toBe('a token is needed\n');
    }
  });

  test('health needs none, and what is not there does', async () => {
    expect((await ask(token, '/healthz', { host: '10.0.0.7' })).status).toBe(200);
    expect((await ask(token, '/no-such-page')).status).toBe(401);
    expect((await ask(token, '/no-such-page', { authorization: `Bearer ${token}` })).status).toBe(404);
  });
});

test('only GET and HEAD; every answer has the headers', async () => {
  for (const [path, method, status] of [
    ['/metrics', 'GET', 200],
    ['/metrics', 'POST', 405],
    ['/healthz', 'DELETE', 405],
    ['/no-such-page', 'GET', 404],
    ['/broken', 'GET', 500],
  ] as const) {
    const answer = await ask(undefined, path, {}, method);
    expect([path, method, answer.status]).toEqual([path, method, status]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-type': expect.stringMatching(/^text\/plain/),
    });
  }
  expect((await ask(undefined, '/metrics', {}, 'POST')).headers.get('allow')).toBe('GET, HEAD');
});

test('what fails is logged, and not told', async () => {
  expect(await (await ask(undefined, '/broken')).text()).toBe('it could not be answered; the log says why\n');
  expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({ path: '/broken' });
});

test('ready: the control tables are there, the database answers, and it is not about to stop', async () => {
  const servers = await openServers({ one: { cron: '0 * * * *', timeZone: 'UTC' } });
  const stop = new AbortController();
  const ask = async (control: typeof servers.control, schema: string) => {
    const answer = await health({ control, schema, stop: stop.signal }).request('/readyz');
    return [answer.status, await answer.text()];
  };
  expect(await ask(servers.control, 'errata')).toEqual([200, 'ok\n']);
  expect(await ask(servers.control, 'elsewhere')).toEqual([503, 'no database answers\n']);
  const nobody = createPool('postgres://etl:secret@127.0.0.1:9/x');
  expect(await ask(controlOf(nobody, 'errata'), 'errata')).toEqual([503, 'no database answers\n']);
  await nobody.end();
  stop.abort();
  expect(await ask(servers.control, 'errata')).toEqual([503, 'stopping\n']);
});

describe('where it listens', () => {
  test.each([
    ['127.0.0.1:8787', { host: '127.0.0.1', port: 8787, isLoopback: true }],
    ['127.1.2.3:1', { host: '127.1.2.3', port: 1, isLoopback: true }],
    ['[::1]:80', { host: '::1', port: 80, isLoopback: true }],
    ['[::]:80', { host: '::', port: 80, isLoopback: false }],
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80, isLoopback: false }],
    ['localhost.example:80', { host: 'localhost.example', port: 80, isLoopback: false }],
    ['127.0.0.1.example:80', { host: '127.0.0.1.example', port: 80, isLoopback: false }],
  ])('%s', (text, place) => expect(readListen(text)).toEqual(place));

  test.each([
    '',
    '8787',
    ':8787',
    '127.0.0.1',
    '127.0.0.1:',
    'h:70000',
    'h:-1',
    '::1:80',
    '[h]:80',
    'a b:80',
    'http://h:80',
  ])('%j is refused', (text) => expect(() => readListen(text)).toThrow(/is no host and port/));

  test('elsewhere than on this machine a token is needed, and a short one is none', () => {
    const [near, far] = [readListen('127.0.0.1:1'), readListen('0.0.0.0:1')];
    expect(readToken(near, undefined)).toBe(undefined);
    expect(readToken(near, token)).toBe(token);
    expect(() => readToken(far, undefined)).toThrow('a server that others can reach needs a token');
    expect(() => readToken(far, '')).toThrow('a server that others can reach needs a token');
    for (const bad of ['short', 'a token with blanks in it', 'ä'.repeat(20)])
      expect(() => readToken(near, bad)).toThrow('ERRATA_SERVE_TOKEN cannot serve as a token');
  });
});
