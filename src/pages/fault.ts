/** What is said where a page cannot be: a fact, a detail and a hint, as everywhere. */
import { html } from 'hono/html';
import type { Duration } from '../config/settings.ts';
import { Failure } from '../failure.ts';
import type { Html } from './cells.ts';
import { documentOf } from './layout.ts';

/** There is no such thing; else what was asked for cannot be meant. */
export class NotThere extends Failure {}

/** It is there, and cannot be read as things stand: bronze no longer fits the settings, or the role has no right to it. */
export class NotReadable extends Failure {}

export function faultPage(
  error: unknown,
  timeout: Duration,
): { readonly page: Html; readonly status: 400 | 403 | 404 | 500 | 503 } {
  if (error instanceof NotThere) return { page: pageOf('There is nothing here', error), status: 404 };
  if (error instanceof NotReadable) return { page: pageOf('That cannot be read now', error), status: 503 };
  if (error instanceof Failure) return { page: pageOf('That cannot be answered', error), status: 400 };
  const code = (error as { code?: unknown }).code;
  if (code === '57014' || code === '55P03')
    return {
      page: pageOf(
        'That takes too long',
        new Failure(`the database did not answer within ${timeout.text}, and was asked to stop`, {
          detail: 'nothing was changed, and nothing is being computed any more',
          hint: 'ask for less: a shorter range, one rollup, one period; or use the command line, which waits',
        }),
      ),
      status: 503,
    };
  if (code === '42501')
    return {
      page: pageOf(
        'The role may not read that',
        new Failure('the database role of errata serve has no right to what this page reads', {
          detail: (error as Error).message,
          hint: 'lateness needs a right on bronze; `errata grants` prints what the others need',
        }),
      ),
      status: 403,
    };
  if (isUnreachable(error))
    return {
      page: pageOf(
        'The database does not answer',
        new Failure('the page could not be read', { hint: 'try again; the log of errata serve says why' }),
      ),
      status: 503,
    };
  return {
    page: pageOf(
      'That could not be answered',
      new Failure('something failed that should not', { hint: 'the log of errata serve says what' }),
    ),
    status: 500,
  };
}

/** A connection that was refused or lost, or none that came free in time. */
function isUnreachable(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return (
    (typeof code === 'string' && /^(E[A-Z]+|08|57P|53)/.test(code)) ||
    (typeof message === 'string' &&
      /timeout exceeded when trying to connect|Connection terminated/.test(message))
  );
}

function pageOf(title: string, { message, detail, hint }: Failure): Html {
  return documentOf({
    title,
    body: html`<p class="fault">${message}</p>
${detail ? html`<p class="detail">${detail}</p>` : ''}
${hint ? html`<p class="note">${hint}</p>` : ''}
<p><a href="/">All rollups</a></p>`,
  });
}
