/** Debian's Prometheus with the configuration of deploy/, where the machine has it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { onFileEnd } from '../support/file-end.ts';
import { checkout } from './dockerfile.ts';

const found = (name: string) =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));

export const promtool = found('promtool');
export const prometheus = found('prometheus');
if (!prometheus) console.warn("No Prometheus (Debian's package prometheus): nothing is scraped.");

/** deploy/prometheus in `place`, with this token; `changes` are what stands there and what is to stand instead. */
export function writeConfiguration(place: string, token: string, changes: Record<string, string> = {}): void {
  cpSync(join(checkout, 'deploy/prometheus'), place, { recursive: true });
  writeFileSync(join(place, 'errata.token'), token);
  let text = readFileSync(join(place, 'prometheus.yml'), 'utf8');
  for (const [old, by] of Object.entries({
    '/etc/prometheus/errata.token': join(place, 'errata.token'),
    ...changes,
  })) {
    if (!text.includes(old)) throw new Error(`prometheus.yml has no ${old}`);
    text = text.replaceAll(old, by);
  }
  writeFileSync(join(place, 'prometheus.yml'), text);
}

export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Started on what `writeConfiguration` wrote; ends with the test file. @returns what asks its API. */
export async function startPrometheus(
  place: string,
): Promise<(path: string, query?: Record<string, string>) => Promise<{ status: string; data?: unknown }>> {
  const port = await freePort();
  const child: ChildProcess = spawn(
    prometheus as string,
    [
      '--config.file=prometheus.yml',
      `--storage.tsdb.path=${join(place, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { cwd: place, stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.on('close', resolve));
  onFileEnd(async () => {
    child.kill();
    await ended;
  });
  return async (path, query = {}) => {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query)}`;
    // Not there yet, it refuses the connection.
    return await fetch(url).then(
      (answer) => answer.json() as Promise<{ status: string; data?: unknown }>,
      () => ({ status: 'unreachable' }),
    );
  };
}
