import { accessSync, constants, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import type { Account } from './account.ts';

/**
 * Where the data of embedded servers lies: ERRATA_STATE_DIR, else /var/lib/errata for root, else the user's own state
 * directory; where that cannot be written, a directory of ours under the temporary one. Never the checkout: the
 * server's account may not be let into it.
 * @throws Failure if none of them can be written.
 */
export function stateDirectory(account: Account): string {
  return firstUsable(
    'ERRATA_STATE_DIR',
    userDirectory(account, '/var/lib', 'XDG_STATE_HOME', '.local/state', 'Application Support'),
  );
}

/** Where copied binaries lie: ERRATA_CACHE_DIR, else /var/cache/errata for root, else the user's cache directory. */
export function cacheDirectory(account: Account): string {
  return firstUsable(
    'ERRATA_CACHE_DIR',
    userDirectory(account, '/var/cache', 'XDG_CACHE_HOME', '.cache', 'Caches'),
  );
}

function userDirectory(account: Account, forRoot: string, variable: string, unix: string, mac: string) {
  if (account.ids) return join(forRoot, 'errata');
  const set = process.env[variable];
  if (set) return join(set, 'errata');
  if (!account.home) return undefined;
  if (process.platform === 'darwin') return join(account.home, 'Library', mac, 'errata');
  if (process.platform === 'win32') return join(process.env.LOCALAPPDATA ?? account.home, 'errata', mac);
  return join(account.home, unix, 'errata');
}

function firstUsable(override: string, usual: string | undefined): string {
  const chosen = process.env[override];
  const spare = join(tmpdir(), `errata-${process.getuid?.() ?? 'user'}`);
  const candidates = chosen ? [chosen] : [usual, spare];
  const refusals: string[] = [];
  for (const directory of candidates) {
    if (directory === undefined) continue;
    const refusal = whyUnusable(directory, directory !== chosen);
    if (refusal === undefined) return realpathSync(directory);
    refusals.push(refusal);
  }
  throw new Failure('there is no place for the embedded PostgreSQL', {
    detail: refusals.join('\n'),
    hint: `set ${override} to a directory that this account may write`,
  });
}

// Others may have made a directory of this name first, in /tmp above all; what they own we neither run nor fill.
// A directory that the user named is the user's affair.
function whyUnusable(directory: string, suspicious: boolean): string | undefined {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    accessSync(directory, constants.W_OK);
    if (!suspicious || process.platform === 'win32') return undefined;
    const found = lstatSync(realpathSync(directory));
    if (found.uid !== process.getuid?.()) return `${directory} belongs to another account`;
    if (found.mode & 0o022) return `${directory} can be written by other accounts`;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
