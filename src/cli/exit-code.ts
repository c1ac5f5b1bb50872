/**
 * What a command hands back to whoever called it:
 *
 *     0  done
 *     1  something failed
 *     2  wrong usage or configuration
 *     3  done, but something needs a person
 *     4  nothing done: another run holds the rollup
 *
 * Over several rollups each has its own, and the invocation hands back the smallest that is true, failure first: 0 only
 * if nothing else is, so a failure (1) is never hidden behind a rollup that is locked (4).
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

/** `[0, 4, 3]` → 3; `[3, 1]` → 1; `[0, 0]` and `[]` → 0. */
export function smallestTrue(codes: readonly ExitCode[]): ExitCode {
  return codes.filter((code) => code !== 0).reduce<ExitCode>((least, code) => earlier(least, code), 0);
}

function earlier(least: ExitCode, code: ExitCode): ExitCode {
  return least === 0 || code < least ? code : least;
}

/** As `--help` says it; `own` replaces the general meaning of a code for one verb. */
export function exitCodeHelp(
  codes: readonly ExitCode[],
  own: Partial<Record<ExitCode, string>> = {},
): string {
  const lines = codes.map((code) => `  ${code}  ${own[code] ?? meaning[code]}`);
  const several = codes.includes(4)
    ? ['Over several rollups: the smallest that is true except 0, so failure comes first.']
    : [];
  return ['Exit codes:', ...lines, ...several].join('\n');
}

const meaning: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'something failed',
  2: 'wrong usage or configuration',
  3: 'done, but something needs a person',
  4: 'nothing done: another run holds the rollup',
};
