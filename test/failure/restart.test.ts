/** A server of the test's own is restarted in immediate mode, as a crash would: recovery, then the next run (R17). */
import { afterAll, afterEach, expect, test } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import { runAs, serverAccount } from '../../src/embedded/account.ts';
import { findBinaries } from '../../src/embedded/binaries.ts';
import { startEmbedded } from '../../src/embedded/server.ts';
import { startDirectly, workDirectory } from '../commands/command.ts';
import { ordersYaml } from '../support/orders.ts';
import { databaseUrl, execute } from '../support/template.ts';
import { bounds, type Copy, openStory, storyOptions } from './story.ts';

const binDirectory = process.env.ERRATA_TEST_POSTGRES_BIN;
const server = await startEmbedded({
  name: 'restart',
  keep: false,
  settings: { synchronous_commit: 'on' },
  ...(binDirectory ? { binDirectory } : {}),
});
afterAll(() => server.stop());

await execute(server.url, 'create database story');
const url = databaseUrl(server.url, 'story');
const pool = createPool(url);
const story = await openStory({ url, pool, close: () => pool.end() });
const directory = workDirectory(ordersYaml(storyOptions));
process.env.ERRATA_LOG_LEVEL = 'debug';

let copy: Copy;
afterEach(() => copy.close());

test.each(['classify', 'publish'])('at %s', async (stage) => {
  copy = await story.copy();
  // A sequence in a database copied since the last checkpoint would go back in recovery, by the copying and not by us.
  await execute(server.url, 'checkpoint');
  const started = startDirectly(directory, copy.url, 'run', '--json', '--bound', bounds[1]);
  await started.said(`"stage":"${stage}"`);
  const { pgCtl } = await findBinaries(serverAccount(), binDirectory);
  const words = ['restart', '--pgdata', server.dataDirectory, '--mode', 'immediate', '--log', '/dev/null'];
  const restarted = await runAs(serverAccount(), pgCtl, words);
  expect(restarted).toMatchObject({ code: 0 });
  const { exitCode, stdout } = await started.ended;
  // it may have committed before the word came
  if (exitCode !== 3)
    expect(JSON.parse(stdout).rollups[0].error.message).toContain('the connection to the database was lost');
  await copy.mustHeal(`the server restarted at ${stage}`);
});
