/** A TCP proxy that cuts one connection in mid-commit: before the word reaches the server, or before its answer comes back. */
import { createServer, connect as dial, type Socket } from 'node:net';
import { onFileEnd } from '../support/file-end.ts';

export type Cut = 'before the commit arrives' | 'before its answer comes back';

export interface Proxy {
  /** The URL of the server, by way of the proxy. */
  readonly url: string;
  /** How many connections were cut; one at most. */
  cuts(): number;
}

/** Query messages of PostgreSQL's protocol: the driver sends COMMIT as one. */
const isCommit = (data: Buffer) => data.toString('latin1').includes('commit\0');

/** Cuts at the `place`-th commit that comes by: the first is that of the transaction which opens the rollup. */
export async function cutting(url: string, cut: Cut, place: number): Promise<Proxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let commits = 0;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = dial(Number(target.port), target.hostname);
    let isCut = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (data) => {
      if (isCommit(data) && ++commits === place) {
        isCut = true;
        cuts++;
        if (cut === 'before the commit arrives') return end();
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      // the server has committed by the time it answers
      if (isCut) end();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const through = new URL(url);
  through.port = String(address && typeof address === 'object' ? address.port : '');
  through.hostname = '127.0.0.1';
  return { url: through.href, cuts: () => cuts };
}
