/** Calls a verb on a test's own rollup, without a process of its own. */
import type { Context } from '../../src/cli/context.ts';
import type { Outcome, Verb } from '../../src/cli/verb.ts';
import type { Settings } from '../../src/config/settings.ts';
import type { TestErrata } from '../support/errata.ts';

export function settingsOf({ rollup }: TestErrata): Settings {
  return {
    database: undefined,
    schema: rollup.schema,
    rollups: [rollup.settings],
    periods: { calendar: 'month', timeZone: 'UTC' },
    limits: rollup.settings.limits,
    notices: rollup.settings.notices,
    file: 'errata.yaml',
  };
}

export async function call<Options>(
  verb: Verb<Options>,
  errata: TestErrata,
  args: readonly string[],
  options: Options,
): Promise<Outcome> {
  const context = {
    environment: {},
    directory: '/',
    signal: new AbortController().signal,
    say: () => {},
    settings: () => settingsOf(errata),
    open: async () => ({ control: errata.control }),
  };
  return await verb.execute(context as unknown as Context, args, options);
}
