import { spawn, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { Failure } from '../failure.ts';

/** The operating system account that the server's processes run as. */
export interface Account {
  readonly name: string;
  /** Set only where this process is root and has to become somebody else. */
  readonly ids: { readonly uid: number; readonly gid: number } | undefined;
  /** The home directory, where the account is this process's own. */
  readonly home: string | undefined;
}

/** How a program ended; `code` is null where a signal ended it. */
export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/**
 * PostgreSQL refuses to run as root, so root runs it as `postgres`, else as `nobody`. Everybody else runs it as
 * themselves.
 * @throws Failure if this is root and neither account exists.
 */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return { name: 'this account', ids: undefined, home: homedir() };
  for (const name of ['postgres', 'nobody']) {
    const uid = numericId('-u', name);
    const gid = numericId('-g', name);
    if (uid && gid) return { name, ids: { uid, gid }, home: undefined };
  }
  throw new Failure('the embedded PostgreSQL does not run as root', {
    detail: 'there is no account "postgres" or "nobody" to run it as',
    hint: 'run this as an ordinary user, or set DATABASE_URL to a server of your own',
  });
}

// `id` asks every source of accounts that the machine knows, which /etc/passwd alone does not.
function numericId(option: '-u' | '-g', name: string): number | undefined {
  const answer = spawnSync('id', [option, name], { encoding: 'utf8' });
  return answer.status === 0 ? Number(answer.stdout) : undefined;
}

/**
 * The environment of the server's programs: no PG* variable of the user's may reach them, nor a language in which
 * their messages would come.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TMPDIR', 'SystemRoot', 'TEMP', 'TMP'];
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of kept) if (process.env[name] !== undefined) environment[name] = process.env[name];
  return environment;
}

/** What `spawn` needs to start a program as `account`, away from a working directory it might not be let into. */
export function spawnOptions(account: Pick<Account, 'ids'>) {
  return {
    ...account.ids,
    cwd: process.platform === 'win32' ? undefined : '/',
    env: serverEnvironment(),
    windowsHide: true,
  };
}

/**
 * Runs a program as `account` to its end, with both its outputs collected. Never rejects: a program that cannot be
 * started ends with code 127 and the reason as its output.
 */
export function runAs(
  account: Pick<Account, 'ids'>,
  file: string,
  args: readonly string[],
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { ...spawnOptions(account), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code, output: output.trim() }));
  });
}
