/** `errata notify`: deliver the notices that wait in the outbox; `errata run` does so too when it is over. */
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { Failure } from '../failure.ts';
import { deliverNotices } from '../notices/deliver.ts';
import { counted } from '../output/amount.ts';

export const notify: Verb = {
  name: 'notify',
  summary: 'deliver the notices of changed numbers that still wait',
  arguments: [],
  options: [],
  help: `${exitCodeHelp([0, 1, 2], { 1: 'something failed, or a notice could not be delivered; it is tried again' })}

Each run that changed published numbers leaves a notice in the commit that published them, if the settings say
notices: { webhook: … }. It is delivered at least once, by POST, the oldest first: after each \`errata run\`, and by this.

Example, for cron:
  errata notify`,
  logs: true,

  async execute(context) {
    const settings = context.settings();
    if (settings.notices === undefined)
      throw new Failure('the settings name nobody to notify', {
        hint: `add notices: { webhook: \${ERRATA_WEBHOOK} } to ${settings.file}`,
        exitCode: 2,
      });
    const { control } = await context.open();
    const result = await deliverNotices(control, settings, context.signal);
    return {
      exitCode: result.failure === null ? 0 : 1,
      text:
        result.failure === null
          ? `delivered ${counted(result.delivered, 'notice')}, ${counted(result.left, 'notice')} left`
          : `delivered ${counted(result.delivered, 'notice')}; the next did not arrive: ${result.failure}; ${counted(result.left, 'notice')} left`,
      data: result,
    };
  },
};
