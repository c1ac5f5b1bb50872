/** What every answer has in common: who may ask, and headers that let a browser do nothing with it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Logger } from 'pino';
import { Failure } from '../failure.ts';
import type { Place } from './listen.ts';

export interface HttpOptions {
  readonly place: Place;
  /** Undefined: nobody is asked for one, and only a loopback address is answered for. */
  readonly token: string | undefined;
  readonly logger: Logger;
  /** Without a token. */
  readonly open: Hono;
  /** With it. */
  readonly guarded: Hono;
}

export function httpApp({ token, logger, open, guarded }: Omit<HttpOptions, 'place'>): Hono {
  const app = new Hono();
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
      xFrameOptions: 'DENY',
      strictTransportSecurity: false,
      // pages say what they may do, and nothing else sets a header of these
      overwrite: false,
    }),
  );
  app.use(async (context, next) => {
    context.header('cache-control', 'no-store');
    const { method } = context.req;
    if (method !== 'GET' && method !== 'HEAD') {
      context.header('allow', 'GET, HEAD');
      return context.text('only GET is answered\n', 405);
    }
    // A page of elsewhere whose name has come to mean this machine would ask in the browser's name.
    if (token === undefined && !isLoopbackName(context.req.header('host')))
      return context.text('only a loopback address is answered for without a token\n', 421);
    return await next();
  });
  app.route('/', open);
  app.use(async (context, next) => {
    if (token !== undefined && !isToken(context.req.header('authorization'), token)) {
      context.header('www-authenticate', 'Basic realm="errata", charset="UTF-8"');
      context.header('www-authenticate', 'Bearer realm="errata"', { append: true });
      return context.text('a token is needed\n', 401);
    }
    return await next();
  });
  app.route('/', guarded);
  app.notFound((context) => context.text('there is nothing here\n', 404));
  app.onError((error, context) => {
    logger.error({ err: error, path: context.req.path }, 'a request could not be answered');
    return context.text('it could not be answered; the log says why\n', 500);
  });
  return app;
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}

/** Compared by their hashes: they have one length, and the time it takes says nothing. */
function isToken(header: string | undefined, token: string): boolean {
  const given = givenToken(header ?? '');
  const hashOf = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(hashOf(given), hashOf(token));
}

/** A scraper's; or a person's, whose browser asks for a name and a password: the token is the password, and any name will do. */
function givenToken(header: string): string | undefined {
  const [, scheme = '', value = ''] = /^(Bearer|Basic) +(\S+)$/i.exec(header) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  return /^[^:]*:(.+)$/s.exec(Buffer.from(value, 'base64').toString('utf8'))?.[1];
}

export interface Listening {
  /** The real one, where 0 was asked for. */
  readonly port: number;
  /** Answers what is under way first. */
  close(): Promise<void>;
}

/** @throws Failure, exit code 1, if nobody can listen there. */
export async function listen({ place, ...rest }: HttpOptions): Promise<Listening> {
  const server = createServer(getRequestListener(httpApp(rest).fetch));
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Failure(`nothing can listen on ${place.host}, port ${place.port}`, {
          detail: `${error.message}`,
          hint: 'end what listens there, or name another place with --listen HOST:PORT',
          exitCode: 1,
        }),
      ),
    );
    server.listen(place.port, place.host, resolve);
  });
  server.on('error', (error) => rest.logger.error({ err: error }, 'the server reported an error'));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}
