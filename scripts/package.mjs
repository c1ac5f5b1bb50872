// Around `npm pack`: `before` compiles `src` to `dist` and takes out of package.json what only a checkout needs; `after`
// puts package.json back. Plain JavaScript, as all that npm itself runs.
//
// The Nodes that a checkout brings along would, as dependencies of a dependency, take over the `node` of whoever installs
// the package: they are left out, and Errata runs on the Node that is there.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageDirectory, refuse } from '../bin/find-node.mjs';

const manifest = join(packageDirectory, 'package.json');
const kept = join(packageDirectory, 'package.json.kept');
const [when] = process.argv.slice(2);

if (when === 'before') before();
else if (when === 'after') after();
else refuse('usage: node scripts/package.mjs before|after');

function before() {
  // One that was ended in between has left the whole one.
  if (existsSync(kept)) after();
  rmSync(join(packageDirectory, 'dist'), { recursive: true, force: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const { status } = spawnSync(
    process.execPath,
    [join(compiler, '..', 'bin', 'tsc'), '--project', join(packageDirectory, 'tsconfig.build.json')],
    { stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
  const whole = readFileSync(manifest, 'utf8');
  const { devDependencies: _, scripts: __, optionalDependencies, ...packed } = JSON.parse(whole);
  // What a checkout brings along makes up for an older one.
  packed.engines = { node: '>=22.22' };
  packed.optionalDependencies = Object.fromEntries(
    Object.entries(optionalDependencies).filter(([name]) => !/^node-/.test(name)),
  );
  writeFileSync(kept, whole);
  writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`);
}

function after() {
  if (existsSync(kept)) renameSync(kept, manifest);
}
