/**
 * A program of its own that stops an embedded server when the process that started it ends, however it ends: the
 * kernel closes that process's end of a pipe, also after SIGKILL. The orderly stop goes the same way.
 *
 * Argument: a `Charge` as JSON. Standard input: the pipe, with the lines
 *     pid N       the server has this process number
 *     done        the end is an orderly one
 *     leave       the server is not ours to stop
 *     linger N    leave the server running N seconds longer
 * Exit code: 0 stopped (and removed), 1 not.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Charge, discharge } from './watch.ts';

const charge = JSON.parse(process.argv[2] ?? '') as Charge;

// A machine that shuts down asks everybody to end; then the server's turn has come as well.
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});

let received = '';
const closed = new Promise<void>((resolve) => {
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  for (const event of ['end', 'error', 'close']) process.stdin.once(event, () => resolve());
});

await Promise.race([asked, closed]);
if (received.includes('leave')) process.exit(0);
const said = (pattern: RegExp) => [...received.matchAll(pattern)].at(-1)?.[1];
const pid = Number(said(/^pid (\d+)$/gm) ?? 0) || undefined;
const seconds = Number(said(/^linger (\d+)$/gm) ?? 0);
await Promise.race([asked, pause(seconds * 1000)]);
await discharge(charge, pid);

// An initdb or a server that was caught in the middle of its start may only now have shown itself.
if (!received.includes('done')) {
  for (let look = 1; look === 1 || (look <= 10 && lives(pid)); look++) {
    await pause(1000);
    await discharge(charge, pid);
  }
}
process.exit(0);

function lives(number: number | undefined): boolean {
  try {
    return number !== undefined && process.kill(number, 0);
  } catch {
    return false;
  }
}
