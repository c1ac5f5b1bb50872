/** How far a long reading is, on stderr: a bar on a terminal, else a line at each tenth. */
import { DefaultRenderer, Listr, ListrLogger, ProcessOutput } from 'listr2';
import type { Context } from '../cli/context.ts';

type OnStep = (step: string, percent: number) => void;

/** listr2 asks whether stdout is a terminal; ours is stderr, and we have asked. */
class OnStderr extends DefaultRenderer {
  static override nonTTY = true;
}

export async function withBar<Result>(
  { isTerminal, say }: Pick<Context, 'isTerminal' | 'say'>,
  title: string,
  work: (onStep: OnStep) => Promise<Result>,
): Promise<Result> {
  if (!isTerminal) return await work(inTenths(title, say));
  let result: Result | undefined;
  const list = new Listr(
    [
      {
        title,
        task: async (_, task) => {
          result = await work((step, percent) => {
            task.output = `${barOf(percent)} ${step}`;
          });
        },
      },
    ],
    {
      registerSignalListeners: false,
      renderer: OnStderr,
      fallbackRenderer: OnStderr,
      rendererOptions: {
        // A failure is printed whole by the frame.
        showErrorMessage: false,
        logger: new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) }),
      },
    },
  );
  await list.run();
  return result as Result;
}

/** A step that is one statement says only that it has begun. */
function inTenths(title: string, say: (text: string) => void): OnStep {
  let [last, tenth] = ['', 0];
  return (step, percent) => {
    const now = Math.floor(percent / 10);
    if (step === last && now <= tenth) return;
    [last, tenth] = [step, now];
    say(`${title}: ${step}${percent > 0 ? `, ${percent} %` : ''}`);
  };
}

const width = 30;

/** `[#########.....................]  30 %` */
export function barOf(percent: number): string {
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * width);
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}] ${String(percent).padStart(3)} %`;
}
