import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { findNode, isSuitable } from '../../bin/find-node.mjs';

const launcher = fileURLToPath(new URL('../../bin/node.mjs', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'errata launcher '));
afterAll(() => rmSync(directory, { recursive: true }));

/** Starts a TypeScript program through the launcher. */
function launch(source: string, ...args: string[]) {
  const script = join(directory, `script ${Math.random()}.ts`);
  writeFileSync(script, source);
  return spawn(process.execPath, [launcher, script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function ending(child: ReturnType<typeof launch>) {
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout, stderr };
}

describe('bin/node.mjs', () => {
  test('runs TypeScript, hands arguments on and hands the exit code back, without a warning', async () => {
    const source =
      'const all: string[] = process.argv.slice(2); console.log(JSON.stringify(all)); process.exit(7);';
    expect(await ending(launch(source, 'a', 'b c', '--d=$HOME'))).toEqual({
      code: 7,
      signal: null,
      stdout: '["a","b c","--d=$HOME"]\n',
      stderr: '',
    });
  });

  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'forwards %s and lets the program end in its own way',
    async (signal) => {
      const child = launch(`
      const timer = setInterval(() => {}, 1000);
      process.on('${signal}', () => { console.log('got ${signal}'); clearInterval(timer); process.exitCode = 3; });
      console.log('ready');`);
      child.stdout.once('data', () => child.kill(signal));
      expect(await ending(child)).toMatchObject({ code: 3, signal: null, stdout: `ready\ngot ${signal}\n` });
    },
  );

  test.for(['SIGTERM', 'SIGKILL'] as const)('ends by %s when the program does', async (signal) => {
    const child = launch(`setInterval(() => {}, 1000); process.kill(process.pid, '${signal}');`);
    expect(await ending(child)).toMatchObject({ code: null, signal });
  });

  test('without a script says how it is used, exit code 2', async () => {
    const child = spawn(process.execPath, [launcher], { stdio: ['ignore', 'pipe', 'pipe'] });
    expect(await ending(child)).toMatchObject({
      code: 2,
      stderr: 'usage: node bin/node.mjs SCRIPT [ARGUMENT…]\n',
    });
  });
});

describe('the choice of a Node', () => {
  const node = (version: string, platform = process.platform as string, arch = process.arch as string) => ({
    versions: { node: version },
    execPath: '/running/node',
    platform,
    arch,
  });

  test.for([
    ['20.20.2', false],
    ['22.21.9', false],
    ['22.22.0', true],
    ['23.5.0', false],
    ['23.6.0', true],
    ['24.0.0', true],
    ['26.1.0', true],
  ] as const)('%s suits: %s', ([version, suits]) => {
    expect(isSuitable(version)).toBe(suits);
  });

  test('the running one where it suits', () => {
    expect(findNode(node('24.22.3'))).toEqual({ file: '/running/node', args: [] });
    expect(findNode(node('23.6.0')).args).toEqual([
      '--import',
      expect.stringMatching(/quiet-type-stripping\.mjs$/),
    ]);
  });

  test('neither suits: one sentence', () => {
    expect(findNode(node('20.20.2', 'sunos', 'x64'))).toEqual({
      problem: expect.stringMatching(
        /^Errata needs Node 22\.22 or newer; this is Node 20\.20\.2, and .* sunos-x64 .*\.$/,
      ),
    });
  });
});
