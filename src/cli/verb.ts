/** The one shape of all verbs: `src/commands/<verb>.ts` exports one `Verb`, and `verbs.ts` lists it. */
import type { Context } from './context.ts';
import type { ExitCode } from './exit-code.ts';

export interface Outcome {
  readonly exitCode: ExitCode;
  /** What a person reads on stdout, without a line end at the end; empty: nothing is printed. */
  readonly text: string;
  /** What `--json` prints on stdout instead, as one line. Counts are numbers or text, amounts and instants text. */
  readonly data: unknown;
}

export interface VerbArgument {
  /** As commander writes it: `<ROLLUP>` is required, `[ROLLUP...]` may be left out or repeated. */
  readonly name: string;
  readonly description: string;
}

export interface VerbOption {
  /** As commander writes it: `--max-windows <N>` arrives as `options.maxWindows`, a text; without `<…>` it is true. */
  readonly flags: string;
  readonly description: string;
}

export interface Verb<Options = object> {
  readonly name: string;
  /** One line for the list of verbs; no full stop at the end. */
  readonly summary: string;
  readonly arguments: readonly VerbArgument[];
  readonly options: readonly VerbOption[];
  /** Printed after the options: exit codes (`exitCodeHelp`) and an example. */
  readonly help: string;
  /** stderr carries JSON lines unless it is a terminal: for what schedulers call. */
  readonly logs?: boolean;
  /** @throws Failure for what a person can mend; anything else is printed as a defect. */
  execute(context: Context, args: readonly string[], options: Options): Promise<Outcome>;
}
