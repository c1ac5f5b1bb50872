/** Speaks just enough of PostgreSQL's protocol to say that it is version 14.11. */
import { createServer, type Server, type Socket } from 'node:net';

const version = '140011';

/** @returns its URL, and what closes it. */
export async function startOldServer(): Promise<{ url: string; close(): void }> {
  const server: Server = createServer((socket) => serve(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `postgres://etl:s3cret-word@127.0.0.1:${address.port}/orders`,
    close: () => server.close(),
  };
}

function serve(socket: Socket): void {
  let isStarted = false;
  socket.on('error', () => {});
  socket.on('data', (data) => {
    if (!isStarted) {
      isStarted = true;
      socket.write(Buffer.concat([message('R', int32(0)), ready]));
    } else if (data.toString('latin1', 0, 1) === 'Q') socket.write(answer);
    else socket.end();
  });
}

const text = (value: string) => Buffer.from(`${value}\0`);

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

function message(kind: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
}

const ready = message('Z', Buffer.from('I'));
const answer = Buffer.concat([
  message('T', int16(1), text('version'), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0)),
  message('D', int16(1), int32(version.length), Buffer.from(version)),
  message('C', text('SELECT 1')),
  ready,
]);
