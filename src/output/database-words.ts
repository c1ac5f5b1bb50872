/** An error of PostgreSQL, of the network or of the driver, as far as it is read. */
export interface DatabaseError extends Error {
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly where?: string;
  readonly severity?: string;
}

/** The database's own words, with its code. */
export function ownWords(error: DatabaseError): string {
  // Where a name has several addresses, Node's error has no message and one inside for each.
  const inner = error instanceof AggregateError ? error.errors.map(String).join('; ') : '';
  const said = [error.message || inner, error.detail, error.where?.split('\n')[0]].filter(Boolean);
  return `${said.join('\n')}${error.code ? ` (${error.code})` : ''}`;
}
