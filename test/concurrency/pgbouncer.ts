/** PgBouncer in front of the test server, in transaction mode: loopback only, gone when the test file ends. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { vi } from 'vitest';
import { serverAccount, spawnOptions } from '../../src/embedded/account.ts';
import { onFileEnd } from '../support/file-end.ts';
import { execute } from '../support/template.ts';

/** The program; undefined where it is not installed (Debian: `apt-get install pgbouncer`). */
export const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((directory) => join(directory, 'pgbouncer'))
  .find((file) => existsSync(file));

/** @returns the URL of the same database by way of the pooler, which shares `connections` among all its clients. */
export async function pooled(url: string, connections: number): Promise<string> {
  if (program === undefined) throw new Error('pgbouncer is not installed');
  const target = new URL(url);
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'errata-pooler-'));
  const file = join(directory, 'pgbouncer.ini');
  // The password stands in it: readable by the one account that runs the pooler.
  const account = serverAccount();
  const password = target.password === '' ? '' : ` password=${decodeURIComponent(target.password)}`;
  writeFileSync(
    file,
    `[databases]
* = host=${target.hostname} port=${target.port || 5432} user=${decodeURIComponent(target.username)}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 100
server_lifetime = 600
`,
  );
  chmodSync(directory, 0o755);
  if (account.ids) chownSync(file, account.ids.uid, account.ids.gid);
  chmodSync(file, 0o600);
  const child = spawn(program, ['--quiet', file], { ...spawnOptions(account), stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('close', resolve));
  onFileEnd(async () => {
    child.kill('SIGKILL');
    await gone;
    rmSync(directory, { recursive: true, force: true });
  });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  through.searchParams.set('sslmode', 'disable');
  await vi.waitUntil(
    () =>
      execute(through.href, 'select 1').then(
        () => true,
        () => false,
      ),
    { timeout: 10_000 },
  );
  return through.href;
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject()));
    });
  });
}
