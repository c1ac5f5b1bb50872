/** How far a run is, on stderr: a live display on a terminal, else a JSON line at each rollup's start and end. */
import { DefaultRenderer, Listr, ListrLogger, type ListrTaskWrapper, ProcessOutput } from 'listr2';
import type { Logger } from 'pino';
import type { Environment } from '../config/environment.ts';
import type { RollupSettings } from '../config/settings.ts';
import { failureText } from './failure-text.ts';
import { outcomeOf, type RollupResult } from './rollup-result.ts';
import { countsText, totals } from './summary.ts';

/** Told by the work of one rollup. */
export interface Progress {
  /** A stage begins; `detail` names what it works on. */
  readonly stage: (stage: string, detail?: string) => void;
}

export type Work = (rollup: RollupSettings, progress: Progress) => Promise<RollupResult>;

export interface Audience {
  readonly isTerminal: boolean;
  readonly logger: Logger;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/** Works through the rollups in order and shows it. What `work` throws ends it. */
export async function withProgress(
  audience: Audience,
  rollups: readonly RollupSettings[],
  work: Work,
): Promise<RollupResult[]> {
  const results = await (audience.isTerminal ? onTerminal : inLines)(audience, rollups, work);
  if (audience.logger.level === 'silent') {
    for (const { failure } of results)
      if (failure) process.stderr.write(`${failureText(failure, audience.environment)}\n`);
  }
  return results;
}

async function inLines(
  { logger, signal }: Audience,
  rollups: readonly RollupSettings[],
  work: Work,
): Promise<RollupResult[]> {
  const results: RollupResult[] = [];
  for (const rollup of rollups) {
    signal.throwIfAborted();
    const own = logger.child({ rollup: rollup.name });
    own.info('rollup starts');
    const result = await work(rollup, {
      stage: (stage, detail) => own.debug({ stage, detail }, 'stage starts'),
    });
    results.push(result);
    logEnd(own, result);
  }
  return results;
}

/** Most failing windows that a line names. */
const failingLogged = 10;

function logEnd(logger: Logger, result: RollupResult): void {
  const outcome = outcomeOf(result);
  if (result.failure) {
    const line = { outcome, err: result.failure };
    if (outcome === 'paused') logger.info(line, result.failure.message);
    else if (outcome === 'locked') logger.warn(line, result.failure.message);
    else logger.error(line, result.failure.message);
    return;
  }
  const { runId, bound, stamp, watermark, counts, contradictions, failing, stageMilliseconds } =
    result.report;
  for (const { text, ...figures } of contradictions) logger.warn(figures, text);
  const line = {
    outcome,
    run_id: runId,
    bound,
    stamp,
    watermark,
    counts,
    stage_milliseconds: stageMilliseconds,
    ...(failing.length > 0 ? { failing: failing.slice(0, failingLogged) } : {}),
  };
  if (outcome === 'attention') logger.warn(line, 'rollup done; something needs a person');
  else logger.info(line, 'rollup done');
}

/** listr2 writes to stdout and asks whether that is a terminal; ours is stderr, and we have asked. */
class OnStderr extends DefaultRenderer {
  static override nonTTY = true;
}

async function onTerminal(
  { signal }: Audience,
  rollups: readonly RollupSettings[],
  work: Work,
): Promise<RollupResult[]> {
  const results: RollupResult[] = [];
  let thrown: unknown;
  const tasks = rollups.map((rollup) => ({
    title: rollup.name,
    task: async (_: unknown, task: Task) => {
      if (thrown !== undefined) return;
      try {
        signal.throwIfAborted();
        results.push(await work(rollup, { stage: (...stage) => show(task, ...stage) }));
      } catch (error) {
        thrown = error;
        throw error;
      }
      const result = results.at(-1) as RollupResult;
      // Thrown for the display's sake; the result is kept.
      if (result.failure && outcomeOf(result) !== 'paused') throw new Error(result.failure.message);
      task.title = `${rollup.name}: ${result.failure ? 'paused' : countsText(totals([result]))}`;
    },
  }));
  const list = new Listr(tasks, {
    concurrent: false,
    exitOnError: false,
    registerSignalListeners: false,
    renderer: OnStderr,
    fallbackRenderer: OnStderr,
    rendererOptions: {
      // The whole failure is printed below.
      showErrorMessage: false,
      collapseErrors: false,
      logger: new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) }),
    },
  });
  await list.run();
  if (thrown !== undefined) throw thrown;
  return results;
}

type Task = ListrTaskWrapper<unknown, typeof DefaultRenderer, typeof DefaultRenderer>;

function show(task: Task, stage: string, detail?: string): void {
  task.output = detail === undefined ? stage : `${stage}: ${detail}`;
}
