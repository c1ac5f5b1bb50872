/** stdout and stderr. A reader that has gone (`| head`) is no failure: what it did not want to read is dropped. */
import type { Writable } from 'node:stream';

/** Without a listener a closed pipe would end the process with a stack trace. */
export function tolerateClosedPipes(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** Resolves when the text has left this process, or nobody reads any more. */
export function writeLine(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.errored) resolve();
    else stream.write(`${text}\n`, () => resolve());
  });
}
