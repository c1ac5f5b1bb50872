/** 1: something failed; 2: wrong usage or configuration; 3: done, but a person is needed; 4: another run holds the rollup. */
export type FailureCode = 1 | 2 | 3 | 4;

export interface FailureParts {
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly exitCode?: FailureCode | undefined;
  readonly cause?: unknown;
}

/**
 * An error meant for a person: a fact (`message`), a `detail` and a `hint`, kept as fields, so that the command line
 * prints them as three lines and `--json` prints them as they are. Anything else that is thrown is a defect of Errata.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly exitCode: FailureCode;

  constructor(message: string, parts: FailureParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.detail = parts.detail;
    this.hint = parts.hint;
    this.exitCode = parts.exitCode ?? 1;
  }
}

/**
 * The three-line form, without a line end at the end:
 *
 *     fact
 *       detail: …
 *       hint:   …
 *
 * A part of several lines keeps them, indented to the column where its first line begins.
 */
export function formatFailure(failure: Failure): string {
  const lines = [failure.message];
  if (failure.detail) lines.push(labelled('detail: ', failure.detail));
  if (failure.hint) lines.push(labelled('hint:   ', failure.hint));
  return lines.join('\n');
}

function labelled(label: string, text: string): string {
  const margin = ' '.repeat(2 + label.length);
  return `  ${label}${text.split('\n').join(`\n${margin}`)}`;
}
