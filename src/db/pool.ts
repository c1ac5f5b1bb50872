import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';

/**
 * PostgreSQL's text, as it is, for the types that JavaScript would damage: int8 and numeric lose digits, timestamps
 * their microseconds, a date becomes a local midnight, and infinity a number. The arrays of these types become arrays
 * of text. Type numbers are fixed in PostgreSQL's catalog.
 */
const asText = new Set([20, 1082, 1083, 1114, 1184, 1186, 1266, 1700]);
const asTextArray = new Set([1016, 1115, 1182, 1183, 1185, 1187, 1231, 1270]);

const keepText = (value: string): string => value;
// What the driver does for text[]; taken once, so that a program that changes the driver's parsers cannot change ours.
const textArray = parserOf(1009);

/** The parsers of our own connections. The driver's global ones stay as they are: they belong to the whole program. */
export const textTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format: 'text' | 'binary' = 'text') => {
    if (format === 'text' && asText.has(oid)) return keepText;
    if (format === 'text' && asTextArray.has(oid)) return textArray;
    return parserOf(oid, format);
  },
};

// The driver's declaration lists the types it has names for; it takes any number and falls back to text.
function parserOf(oid: number, format: 'text' | 'binary' = 'text') {
  return pg.types.getTypeParser(oid as Parameters<typeof pg.types.getTypeParser>[0], format);
}

export interface PoolOptions {
  /** Most connections at a time; 4 by default. A run needs one, its lock another. */
  readonly max?: number;
  /** Told of a connection that broke while nobody used it. The pool replaces it by itself. */
  readonly onIdleError?: (error: Error) => void;
}

/**
 * A pool whose numbers, dates and timestamps arrive as text.
 *
 * `connection` is a URL (`postgresql://user:password@host:port/database`); undefined takes the PG* variables that
 * psql takes too. The connections call themselves `errata` unless the URL or PGAPPNAME says otherwise. Nothing else
 * is set on a connection: behind PgBouncer the next transaction may get another one, so what a statement relies on is
 * set by the transaction it runs in (`transaction.ts`).
 *
 * Does not connect by itself: the first query rejects if there is no server.
 */
export function createPool(connection: string | undefined, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    ...(connection === undefined ? {} : { connectionString: connection }),
    fallback_application_name: 'errata',
    types: textTypes,
    max: options.max ?? 4,
    connectionTimeoutMillis: 15_000,
    keepAlive: true,
  });
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', options.onIdleError ?? (() => {}));
  // The same of one that is in use; whoever uses it learns of it from the query that fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A pool of somebody else's, whose numbers, dates and timestamps arrive as text here, and nowhere else. Never ended. */
export function textPool(pool: pg.Pool): PostgresPool {
  const connect = async () => {
    const client = await pool.connect();
    return {
      query: (text: string, values: readonly unknown[]) =>
        client.query({ text, values: [...values], types: textTypes }),
      release: (destroy?: boolean) => client.release(destroy),
    } as unknown as PostgresPoolClient;
  };
  return { options: pool.options, connect, end: async () => {} };
}
