/** Why a first connection came to nothing, as one clear Failure. */
import { Failure, type FailureCode } from '../failure.ts';
import { databaseFailure } from './database-failure.ts';
import { type DatabaseError, ownWords } from './database-words.ts';

/** @param server as messages name it, without its password */
export function connectionFailure(error: unknown, server: string): Failure {
  const { code = '', message = '' } = error as DatabaseError;
  const parts = (hint: string, exitCode: FailureCode) => ({
    detail: ownWords(error as DatabaseError),
    hint,
    exitCode,
    cause: error,
  });
  if (code === '3D000')
    return new Failure(
      `there is no database at ${server}`,
      parts('create it, or correct `database` or DATABASE_URL', 2),
    );
  if (code.startsWith('28'))
    return new Failure(
      `the database does not let us in at ${server}`,
      parts('check the user, the password and pg_hba.conf', 2),
    );
  if (code === '53300')
    return new Failure(
      `the database has no connection left at ${server}`,
      parts('try again later, or raise max_connections', 1),
    );
  if (code === '57P03')
    return new Failure(`the database is not ready at ${server}`, parts('try again in a moment', 1));
  if (code === '42501') return databaseFailure(error) as Failure;
  if (/SSL|TLS|CERT/i.test(`${code} ${message}`))
    return new Failure(
      `no secure connection could be made to ${server}`,
      parts('check `sslmode` and the certificates that the URL names', 2),
    );
  const hint = 'start the server, or correct `database` in the settings, DATABASE_URL or the PG* variables';
  return new Failure(`no database answers at ${server}`, parts(hint, 1));
}
