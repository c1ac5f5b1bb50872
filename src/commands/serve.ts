/** `errata serve`: runs each rollup by its schedule, and answers for its health over HTTP. */
import { once } from 'node:events';
import type { Context } from '../cli/context.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { type Control, controlOf } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { refusePending } from '../db/migrator.ts';
import { createPool } from '../db/pool.ts';
import { query } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';
import { Loop, scheduledRollups } from '../schedule/loop.ts';
import { startTicks } from '../schedule/ticks.ts';
import { addressOf, defaultListen, readListen, readToken } from '../server/listen.ts';

export interface ServeFlags {
  readonly listen?: string;
  readonly onlyPages?: boolean;
}

export const serve: Verb<ServeFlags> = {
  name: 'serve',
  summary: 'run each rollup by its schedule, and answer for health, metrics and pages over HTTP',
  arguments: [],
  options: [
    {
      flags: '--listen <HOST:PORT>',
      description: `to answer there; default: ${defaultListen}; a place that others reach needs ERRATA_SERVE_TOKEN`,
    },
    {
      flags: '--only-pages',
      description: 'answer, and run nothing: where cron runs, or another server',
    },
  ],
  help: `${exitCodeHelp([0, 1, 2], { 0: 'stopped as asked, by SIGTERM or SIGINT' })}

A rollup runs when its schedule is due: schedule: { cron: "*/15 * * * *", time_zone: UTC }. What is due is read from the
database, so several servers share the work, and each due moment is answered by one run. What was missed while no server
was there is answered by one run. A rollup that fails waits a minute, then two, at most an hour; others go on.

SIGTERM: no run begins any more, the one under way comes to its commit, and the server stops. The second cancels it.

A browser shows the pages at / (docs/pages.md); where a token is asked for, it is the password, and any name will do.

Without a schedule of one's own: \`errata run\`, by crontab, systemd or Kubernetes (docs/running.md).

Example:
  errata serve --config /etc/errata/errata.yaml --listen 127.0.0.1:8787`,
  logs: true,

  async execute(context, _names, flags) {
    const settings = context.settings();
    const place = readListen(flags.listen ?? defaultListen);
    const token = readToken(place, context.environment.ERRATA_SERVE_TOKEN);
    const rollups = scheduledRollups(settings);
    const isIdle = flags.onlyPages === true;
    if (rollups.length === 0 && !isIdle)
      throw new Failure('no rollup has a schedule', {
        hint: `add schedule: { cron: "*/15 * * * *", time_zone: UTC } to a rollup in ${settings.file}, or name --only-pages`,
        exitCode: 2,
      });
    const { health, listen, metrics, pages } = await loadServer();
    const { control, pool } = await context.open();
    await refuseUnmigrated(control, settings.schema);
    await refusePending(control, settings.schema);
    const stop = context.stopFirst();
    const loop = new Loop({ control, settings, logger: context.logger, stop, cancelled: context.signal });
    // of their own: whoever looks at pages keeps no run from a connection
    const readers = createPool(pool.options.connectionString, { max: 2 });
    const server = await listen({
      place,
      token,
      logger: context.logger,
      open: health({ control, schema: settings.schema, stop }),
      guarded: metrics(control, settings, context.logger).route(
        '/',
        pages(controlOf(readers, settings.schema), settings, context.logger),
      ),
    });
    context.say(
      `serves ${isIdle ? 'the pages alone' : counted(String(rollups.length), 'rollup')} at ${addressOf({ ...place, port: server.port })}`,
    );
    await untilStopped(context, isIdle ? undefined : loop, stop);
    await server.close();
    await readers.end();
    return { exitCode: 0, text: '', data: { exitCode: 0 } };
  },
};

/** What no other verb needs, and a fifth of what all of them would hold in memory. */
async function loadServer() {
  const [{ pages }, { health }, { listen }, { metrics }] = await Promise.all([
    import('../pages/pages.ts'),
    import('../server/health.ts'),
    import('../server/http.ts'),
    import('../server/metrics.ts'),
  ]);
  return { pages, health, listen, metrics };
}

async function untilStopped(context: Context, loop: Loop | undefined, stop: AbortSignal): Promise<void> {
  const endTicks = loop ? startTicks(() => void loop.tick()) : async () => {};
  try {
    if (!stop.aborted) {
      void loop?.tick();
      await once(stop, 'abort');
    }
  } finally {
    await endTicks();
  }
  context.say('stops when what is under way is committed; a second signal cancels it');
  await loop?.idle();
}

/** @throws Failure, exit code 2. */
async function refuseUnmigrated(control: Control, schema: string): Promise<void> {
  const [row] = await query<{ there: boolean }>(control, 'select to_regclass($1) is not null as there', [
    `${quoteName(schema)}.due_moment`,
  ]);
  if (row?.there) return;
  throw new Failure(`schema "${schema}" has no tables for schedules`, {
    hint: 'run `errata migrate`',
    exitCode: 2,
  });
}
