/** Who says so, and why: what a person does to published numbers takes both. */
import { Failure } from '../failure.ts';

export interface Speaker {
  readonly actor: string;
  readonly reason: string;
}

/** `act` as in `to approve a proposal`. @throws Failure, exit code 2, where one of the two is missing. */
export function speakerOf(
  flags: { readonly actor?: string | undefined; readonly reason?: string | undefined },
  act: string,
): Speaker {
  const [actor, reason] = [(flags.actor ?? '').trim(), (flags.reason ?? '').trim()];
  if (actor !== '' && reason !== '') return { actor, reason };
  throw new Failure(`to ${act} takes a person and a reason`, {
    detail: 'both stay on record',
    hint: 'add --actor NAME and --reason TEXT',
    exitCode: 2,
  });
}
