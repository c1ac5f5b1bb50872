/**
 * Loaded before every test file (vitest's `setupFiles`), so that its hook is the first of the file and, since hooks
 * that end something run in reverse, the last to be called.
 */
import { afterAll, type RunnerTask, type RunnerTestSuite } from 'vitest';

type Ending = (failed: boolean) => Promise<void>;

// One list a test file: vitest gives each file a world of its own.
const endings: Ending[] = [];

/** Has `ending` called when all tests and hooks of this test file are through, and told whether any has failed. */
export function onFileEnd(ending: Ending): void {
  endings.push(ending);
}

// biome-ignore lint/correctness/noEmptyPattern: vitest reads the first argument's text and wants a pattern there
afterAll(async ({}, file) => {
  const failed = hasFailed(file as RunnerTestSuite);
  for (const ending of endings.reverse()) await ending(failed);
});

function hasFailed(task: RunnerTask): boolean {
  if (task.result?.state === 'fail') return true;
  return 'tasks' in task && task.tasks.some(hasFailed);
}
