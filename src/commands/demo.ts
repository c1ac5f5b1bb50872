/** `errata demo`: the front door. An embedded PostgreSQL, two bronze histories, the job, and what it found. */
import pg from 'pg';
import type { Context } from '../cli/context.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Outcome, Verb } from '../cli/verb.ts';
import { type EmbeddedServer, startEmbedded, stopEmbedded } from '../embedded/server.ts';
import { Failure } from '../failure.ts';
import { demoData } from '../report/demo/data.ts';
import { nextLines } from '../report/demo/next.ts';
import { demoText } from '../report/demo/text.ts';
import { holds } from '../report/sum-check.ts';

interface Flags {
  readonly stop?: boolean;
  readonly remove?: boolean;
}

const name = 'demo';
const database = 'errata_demo';

export const demo: Verb<Flags> = {
  name: 'demo',
  summary: 'start an embedded PostgreSQL, load two bronze histories, run the job and show what it found',
  arguments: [],
  options: [
    { flags: '--stop', description: 'stop the server of the demo; its data stay' },
    { flags: '--remove', description: 'stop the server of the demo and remove its data' },
  ],
  help: `${exitCodeHelp([0, 1])}

Repeatable: each time the database ${database} is made anew. It needs no settings and no PostgreSQL, and touches no
other database. The server runs on, so that you can look around; the last lines say how to connect and how to stop it.

Example:
  errata demo`,

  async execute(context, _args, { stop, remove }) {
    if (stop || remove) return await stopped(remove === true);
    context.say('starting the embedded PostgreSQL');
    const server = await startEmbedded({ name, keep: true, detach: true });
    const url = await freshDatabase(server);
    const { pool } = await context.open({ database: url, schema: 'errata' });
    const { playDemo } = await import('../report/demo/demo.ts');
    const report = await playDemo(pool, (step) => sayUnlessEnded(context, step));
    const parts = [report.orders, report.git];
    const text = [
      demoText(report, `an embedded PostgreSQL ${server.version}`),
      '',
      ...nextLines(url, context.directory, server.dataDirectory),
    ];
    return {
      exitCode: parts.every((part) => holds(part.check)) ? 0 : 1,
      text: text.join('\n'),
      data: { database: url, ...demoData(report) },
    };
  },
};

function sayUnlessEnded(context: Context, step: string): void {
  context.signal.throwIfAborted();
  context.say(step);
}

async function stopped(remove: boolean): Promise<Outcome> {
  const wasRunning = await stopEmbedded(name, { remove });
  const text = [
    wasRunning ? 'The server of the demo is stopped' : 'No server of the demo was running',
    remove ? '; its data are removed.' : '; its data stay, and `errata demo` starts it again.',
  ].join('');
  return { exitCode: 0, text, data: { wasRunning, removed: remove } };
}

/** Dropped and made again, so that the demo always begins at the beginning. @returns its URL */
async function freshDatabase(server: EmbeddedServer): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`drop database if exists ${database} with (force)`);
    await client.query(`create database ${database} template template0 encoding 'UTF8'`);
  } catch (cause) {
    throw new Failure('the database of the demo cannot be made anew', {
      detail: cause instanceof Error ? cause.message : String(cause),
      hint: 'run `errata demo --remove`, then `errata demo` again',
      cause,
    });
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return url.href;
}
