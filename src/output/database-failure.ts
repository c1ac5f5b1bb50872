/**
 * What PostgreSQL, the network or the driver throws, as one clear Failure: what happened, the database's own words, and
 * what to do. Codes are SQLSTATEs (PostgreSQL's appendix A) or Node's. Behind this, only defects are left.
 */
import { Failure, type FailureCode } from '../failure.ts';
import { type DatabaseError, ownWords } from './database-words.ts';
import { grantHint } from './grant-hint.ts';

export interface Occasion {
  /** The rollup that was at work. */
  readonly rollup?: string | undefined;
  /** Its measures, `name: expression` each. */
  readonly measures?: readonly string[] | undefined;
}

/** The failure that `error` stands for; undefined where it is none of the database's: a defect. */
export function databaseFailure(error: unknown, occasion: Occasion = {}): Failure | undefined {
  if (error instanceof Failure) return error;
  if (!(error instanceof Error)) return undefined;
  const { code = '' } = error as DatabaseError;
  if (isLoss(error as DatabaseError)) {
    return failed(error, `the connection to the database was lost${during(occasion)}`, {
      hint: 'look at the server log; nothing is half done, so run the command again',
    });
  }
  if (!/^[0-9A-Z]{5}$/.test(code) || !('severity' in error)) return undefined;
  const [, meaning] = byCode.find(([prefix]) => code.startsWith(prefix)) ?? [];
  if (meaning) return meaning(error as DatabaseError, occasion);
  return failed(error, `the database reported an error${during(occasion)}`, {
    hint: 'nothing was written; the words above are the database’s own',
  });
}

type Meaning = (error: DatabaseError, occasion: Occasion) => Failure;

/** The first entry that the code begins with. */
const byCode: readonly (readonly [string, Meaning])[] = [
  [
    '42501',
    (error, occasion) =>
      failed(error, `a privilege is missing${during(occasion)}`, {
        hint: grantHint(error.message),
        exitCode: 2,
      }),
  ],
  [
    '42P01',
    (error, occasion) =>
      failed(error, `a table has gone${during(occasion)}`, {
        hint: 'if it is bronze, bring it back or correct its name, and run `errata check`; if it is Errata’s own, run `errata migrate`',
      }),
  ],
  [
    '42703',
    (error, occasion) =>
      failed(error, `a column has gone${during(occasion)}`, {
        hint: 'bring it back, or correct the settings, and run `errata check`',
      }),
  ],
  ['22', measureFailed],
  [
    '40',
    (error, occasion) =>
      failed(error, `the database gave way to another transaction${during(occasion)}`, again),
  ],
  [
    '55P03',
    (error, occasion) =>
      failed(error, `a lock was not to be had in time${during(occasion)}`, {
        hint: 'find who holds it with pg_blocking_pids(), or raise lock_timeout in the settings, section run; nothing was written',
      }),
  ],
  [
    '57014',
    (error, occasion) =>
      failed(error, `a statement was cancelled${during(occasion)}`, {
        hint: /timeout/.test(error.message)
          ? 'raise statement_timeout in the settings, section run, or take fewer windows with --max-windows; nothing was written'
          : 'somebody cancelled it; nothing was written, so run the command again',
      }),
  ],
  [
    '25P',
    (error, occasion) =>
      failed(error, `the database ended a transaction that waited${during(occasion)}`, {
        hint: 'raise its timeouts for this role; nothing was written',
      }),
  ],
  [
    '25006',
    (error) =>
      failed(error, 'the database is read-only', {
        hint: 'a standby, or default_transaction_read_only: name the primary as `database`',
        exitCode: 2,
      }),
  ],
  [
    '53100',
    (error, occasion) =>
      failed(error, `the disk of the database is full${during(occasion)}`, {
        hint: 'make room (a first run needs temporary files too: see temp_file_limit), and run the command again; nothing was written',
      }),
  ],
  [
    '53',
    (error, occasion) =>
      failed(error, `the database ran out of resources${during(occasion)}`, {
        hint: 'look at the server log, or take fewer windows with --max-windows; nothing was written',
      }),
  ],
  [
    '3F000',
    (error) => failed(error, 'a schema is missing', { hint: 'run `errata migrate`, then `errata check`' }),
  ],
  [
    '0A000',
    (error, occasion) =>
      failed(error, `the database cannot do what is asked of it${during(occasion)}`, { exitCode: 2 }),
  ],
];

const again = { hint: 'nothing was written; run the command again' };

/** A data exception: some row of bronze does not go with an expression. */
function measureFailed(error: DatabaseError, occasion: Occasion): Failure {
  const what = occasion.rollup === undefined ? 'a value' : `a measure of rollup "${occasion.rollup}"`;
  const guard =
    error.code === '22012'
      ? 'guard the division, as in sum(a / nullif(b, 0))'
      : 'guard the expression, or cast it to a wider type';
  const measures = occasion.measures?.length ? `\nmeasures: ${occasion.measures.join('; ')}` : '';
  return new Failure(`${what} cannot be computed: ${error.message}`, {
    detail: `${ownWords(error)}${measures}`,
    hint: `${guard}, or correct the row in bronze; nothing was written`,
    cause: error,
  });
}

function failed(
  error: Error,
  message: string,
  parts: { readonly hint?: string; readonly exitCode?: FailureCode } = {},
): Failure {
  return new Failure(message, { detail: ownWords(error as DatabaseError), cause: error, ...parts });
}

function during({ rollup }: Occasion): string {
  return rollup === undefined ? '' : ` while rollup "${rollup}" was at work`;
}

const networkCodes = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/;

function isLoss(error: DatabaseError): boolean {
  const { code = '', message } = error;
  if (/^(08|57P0)/.test(code) || networkCodes.test(code)) return true;
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/.test(
    message,
  );
}
