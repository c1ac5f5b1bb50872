/** Which errors of PostgreSQL are the fault of a row, so that others can be computed without it (R19). */

/**
 * Classes of SQLSTATE that no row is at fault for: connection, transaction, privilege and syntax, resources, an
 * intervention, the server itself, foreign servers. The rest is: a data exception (22), what a function of the user's
 * raises (P0 or a code of its own), the check of a domain (23), a limit that one value meets (54).
 */
export const notOfRows: readonly string[] =
  '00 01 02 03 08 0A 0B 0L 0P 25 26 27 28 2B 2D 34 3B 3D 3F 40 42 44 53 55 57 58 72 F0 HV XX'.split(' ');

export function isFaultOfRow(error: unknown): boolean {
  if (!(error instanceof Error) || !('severity' in error)) return false;
  const { code } = error as { code?: string };
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !notOfRows.includes(code.slice(0, 2));
}
