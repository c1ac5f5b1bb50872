/** Where `errata serve` listens, and who may ask there. */
import { isIPv6 } from 'node:net';
import { Failure } from '../failure.ts';

export interface Place {
  readonly host: string;
  readonly port: number;
  /** Only programs on this machine reach it. */
  readonly isLoopback: boolean;
}

export const defaultListen = '127.0.0.1:8787';
/** A shorter token can be guessed. */
const fewest = 16;

/** `127.0.0.1:8787`, `[::1]:8787`, `errata.internal:80`. @throws Failure, exit code 2. */
export function readListen(text: string): Place {
  const [, inBrackets, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (inBrackets !== undefined && !isIPv6(inBrackets)))
    throw new Failure(`--listen ${JSON.stringify(text)} is no host and port`, {
      hint: `write HOST:PORT, such as ${defaultListen} or [::1]:8787`,
      exitCode: 2,
    });
  return {
    host,
    port,
    isLoopback: host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host),
  };
}

/** The token that is asked for. @throws Failure, exit code 2, where others could ask without one. */
export function readToken({ isLoopback }: Place, token: string | undefined): string | undefined {
  if (token === undefined || token === '') {
    if (isLoopback) return undefined;
    throw new Failure('a server that others can reach needs a token', {
      detail: 'ERRATA_SERVE_TOKEN is not set',
      hint: `set it to at least ${fewest} characters, or listen on ${defaultListen}`,
      exitCode: 2,
    });
  }
  if (token.length < fewest || /[^\x21-\x7e]/.test(token))
    throw new Failure('ERRATA_SERVE_TOKEN cannot serve as a token', {
      detail: `it is shorter than ${fewest} characters, or has others in it than letters, digits and signs`,
      hint: 'make one with `openssl rand -hex 32`',
      exitCode: 2,
    });
  return token;
}

export function addressOf({ host, port }: Pick<Place, 'host' | 'port'>): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
