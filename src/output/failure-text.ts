/** A Failure as it is printed, or as `--json` carries it; secrets are hidden in both. */
import type { Environment } from '../config/environment.ts';
import { Failure, formatFailure } from '../failure.ts';
import { hideSecrets } from './secrets.ts';

export interface FailureData {
  readonly message: string;
  readonly detail: string | null;
  readonly hint: string | null;
  readonly exitCode: number;
}

export function failureText(failure: Failure, environment: Environment): string {
  return hideSecrets(formatFailure(failure), environment);
}

export function failureData(failure: Failure, environment: Environment): FailureData {
  const shown = (text: string | undefined) => (text ? hideSecrets(text, environment) : null);
  return {
    message: hideSecrets(failure.message, environment),
    detail: shown(failure.detail),
    hint: shown(failure.hint),
    exitCode: failure.exitCode,
  };
}

/** What is thrown and is no Failure is a defect of Errata, said as one, with the place where it arose. */
export function defect(error: unknown): Failure {
  const stack = error instanceof Error ? error.stack?.split('\n').slice(1, 4).join('\n') : undefined;
  return new Failure(`unexpected error: ${error instanceof Error ? error.message : String(error)}`, {
    detail: stack?.replaceAll(/^ {4}/gm, ''),
    hint: 'this is a defect of Errata; please report it with this text',
    exitCode: 1,
    cause: error,
  });
}
