/** Keyed windows that a person named and that a run cannot answer: then nothing of what they asked for is done. */
import { execute } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';
import { windowText } from '../output/window-text.ts';
import type { RunContext } from '../pipeline/context.ts';

export interface Unanswered {
  readonly window_start: string;
  readonly window_end: string;
  readonly key: Readonly<Record<string, string | null>>;
  /**
   * `incomplete`: it starts before bronze is complete; `blocked`: rows of it are gone (R15); `failing`: a measure cannot be
   * computed; `proposed`: an open proposal is about it; `closed`: its period is (R12); `unsealed`: it has not shipped yet.
   */
  readonly obstacle: 'incomplete' | 'blocked' | 'failing' | 'proposed' | 'closed' | 'unsealed';
  readonly why: string | null;
  /** A version includes an event of it that was waived. */
  readonly is_taken_back: boolean;
}

export async function readUnanswered(run: RunContext): Promise<readonly Unanswered[]> {
  const { rows } = await execute<Unanswered>(run.transaction, run.statements.unanswered, {
    complete_from: run.completeFrom,
    rollup_id: run.rollup.id,
  });
  return rows;
}

/** At most so many are named. */
const namedAtMost = 10;

/** @param what was asked of them, as in `restated`. @param name of the rollup */
export function refusal(windows: readonly Unanswered[], what: string, name: string): Failure {
  const isProposed = windows.some(({ obstacle }) => obstacle === 'proposed');
  const rest = windows.length - namedAtMost;
  return new Failure(`${counted(windows.length, 'keyed window')} cannot be ${what}; nothing was done`, {
    detail: [
      ...windows
        .slice(0, namedAtMost)
        .map((window) => `${keyedWindowText(window)}: ${window.why ?? reasons[window.obstacle]}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ].join('\n'),
    hint: isProposed
      ? `decide the proposals first: \`errata review ${name}\``
      : `\`errata status ${name}\` says what stands in the way`,
    exitCode: 3,
  });
}

const reasons: Readonly<Record<Unanswered['obstacle'], string>> = {
  incomplete: 'bronze is not complete there',
  blocked: 'rows of it are gone from bronze',
  failing: 'a measure of it cannot be computed',
  proposed: 'an open proposal is about it',
  closed: 'its period is closed',
  unsealed: 'it is not sealed yet',
};

export function keyedWindowText({
  key,
  ...window
}: Pick<Unanswered, 'window_start' | 'window_end' | 'key'>): string {
  const values = Object.values(key).map((value) => value ?? 'NULL');
  return [windowText({ ...window, local_date: null }), ...values].join(' ');
}
