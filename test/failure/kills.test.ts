/** Killed anywhere, the next run says what an undisturbed one says (R17, R18). */
import { afterEach, describe, expect, test } from 'vitest';
import { startDirectly, workDirectory } from '../commands/command.ts';
import { ordersYaml } from '../support/orders.ts';
import { bounds, type Copy, leftBehind, openStory, storyOptions, untilAlone } from './story.ts';

/** Kills at random instants in the normal run; ERRATA_KILLS=200 for the long one. */
const numberOfKills = Number(process.env.ERRATA_KILLS ?? 6);
const seed = process.env.ERRATA_SEED === undefined ? 8841 : Number(process.env.ERRATA_SEED);

const story = await openStory();
const directory = workDirectory(ordersYaml(storyOptions));
process.env.ERRATA_LOG_LEVEL = 'debug';

let copy: Copy | undefined;
afterEach(async () => {
  await copy?.close();
  copy = undefined;
});

const stages = [
  'scan',
  'refused',
  'watermark',
  'classify',
  'copies',
  'late events',
  'seal',
  'touch',
  'amend',
  'recompute',
  'diff',
  'publish',
];
const command = (url: string) => startDirectly(directory, url, 'run', '--bound', bounds[1]);

/** The last stage that a command logged. */
const lastStage = (stderr: string) => [...stderr.matchAll(/"stage":"([a-z ]+)"/g)].at(-1)?.[1] ?? 'none';

test('the history gives every stage something to do', async () => {
  copy = await story.copy();
  const { counts } = await copy.run();
  expect(counts).toMatchObject({ quarantined: 1, conflicts: 1 });
  for (const count of ['late_firing', 'side_output', 'windows_sealed', 'windows_corrected'])
    expect(`${count} ${Number(counts[count]) > 0}`).toBe(`${count} true`);
});

test('SIGKILL as each stage begins, one after the other', async () => {
  copy = await story.copy();
  for (const stage of stages) {
    const started = command(copy.url);
    await started.said(`"stage":"${stage}"`);
    started.signal('SIGKILL');
    expect((await started.ended).exitCode).toBe(null);
    await untilAlone(copy.pool);
    expect(await leftBehind(copy.pool)).toEqual([]);
  }
  await copy.mustHeal('killed at each stage');
}, 120_000);

describe('SIGKILL at a random instant', () => {
  /** The generator of Park and Miller: the same instants for the same seed. */
  let state = seed;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const instants = Array.from({ length: numberOfKills }, random);
  const reached: string[] = [];
  let length = 0;

  test('how long a run takes that nobody kills', async () => {
    copy = await story.copy();
    const started = command(copy.url);
    await started.said('rollup starts');
    const from = performance.now();
    await started.ended;
    length = performance.now() - from;
  });

  test.each(instants.map((part, place) => ({ place, part })))(
    `kill $place, seed ${seed}`,
    async ({ part }) => {
      copy = await story.copy();
      const started = command(copy.url);
      await started.said('rollup starts');
      await new Promise((resolve) => setTimeout(resolve, part * length));
      started.signal('SIGKILL');
      const { exitCode, stderr } = await started.ended;
      reached.push(exitCode === null ? lastStage(stderr) : 'ended before');
      await copy.mustHeal(`killed ${Math.round(part * length)} ms after its start, seed ${seed}`);
    },
  );

  test('where they fell', () => {
    const counts = Object.groupBy(reached, (stage) => stage);
    console.info(
      Object.entries(counts)
        .map(([stage, all]) => `${stage}: ${all?.length}`)
        .join(', '),
    );
    expect(reached).toHaveLength(numberOfKills);
  });
});
