/**
 * SIGINT, SIGTERM and SIGHUP. The server would only notice that we are gone when its statement ends, and hold the rollup until
 * then; so the statements under way are cancelled first, their transactions roll back, and only then does the process end.
 * A verb that serves is asked first to come to its end; the second signal then is what the first is to others.
 */
import { connect, type Socket } from 'node:net';
import type pg from 'pg';

const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
/** How long a cancelled statement may take to roll back before the process ends all the same. */
const patienceMilliseconds = 5000;
/** A probe takes a cancelled statement for a refused one and goes on with the next, which is cancelled too. */
const againMilliseconds = 100;

export class Interruption {
  readonly #controller = new AbortController();
  readonly #clients = new Set<pg.PoolClient>();
  /** Requests that nobody has answered yet. */
  readonly #asked = new Map<pg.PoolClient, Socket>();
  #stop: AbortController | undefined;
  /** 128 and the signal's number, once one came. */
  exitCode: 129 | 130 | 143 | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From here on the first signal cancels nothing, and only ends what this returns. */
  stopFirst(): AbortSignal {
    this.#stop ??= new AbortController();
    return this.#stop.signal;
  }

  /** Clients of this pool are cancelled too. */
  watch(pool: pg.Pool): void {
    pool.on('connect', (client) => this.#clients.add(client));
    pool.on('remove', (client) => this.#clients.delete(client));
  }

  #cancelAll(): void {
    for (const client of this.#clients) {
      if (this.#asked.has(client)) continue;
      const request = cancel(client);
      if (!request) continue;
      this.#asked.set(client, request);
      request.on('close', () => this.#asked.delete(client));
    }
  }

  listen(): void {
    for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (this.#stop && !this.#stop.signal.aborted) {
          this.#stop.abort();
          return;
        }
        // The second time somebody means it.
        if (this.exitCode !== undefined) process.exit(codes[name]);
        this.exitCode = codes[name];
        this.#controller.abort();
        this.#cancelAll();
        setInterval(() => this.#cancelAll(), againMilliseconds).unref();
        setTimeout(() => process.exit(codes[name]), patienceMilliseconds).unref();
      });
    }
  }
}

/** What the driver knows of its backend and does not declare. */
interface Backend {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

/**
 * PostgreSQL's CancelRequest: a connection of its own that says 80877102, the backend's number and its secret. Unlike
 * `pg_cancel_backend` it needs no session and also works through a pooler, which translates the number.
 *
 * The other side closes the connection, not we: PgBouncer 1.18 crashes when a client that asked is gone too early
 * (https://github.com/pgbouncer/pgbouncer/pull/846).
 */
function cancel(client: pg.PoolClient): Socket | undefined {
  const { host, port, processID, secretKey } = client as unknown as Backend;
  if (processID === null || secretKey === null) return undefined;
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(80877102, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // If it cannot be sent, the statement ends by itself, and the patience above ends the process.
  socket.on('error', () => {});
  socket.write(request);
  return socket;
}
