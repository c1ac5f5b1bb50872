/** The pages of `errata serve`: what is asked for, and what is said where it cannot be answered. */
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { Rollup } from '../catalog/rollup.ts';
import type { Duration, RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { Failure } from '../failure.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import { Asked } from './asked.ts';
import type { Html } from './cells.ts';
import { faultPage, NotThere } from './fault.ts';
import { findPage } from './find.ts';
import { latenessPage } from './lateness.ts';
import { overviewPage } from './overview.ts';
import { periodsPage } from './periods.ts';
import { proposalsPage } from './proposals.ts';
import { pageTimeout, type Reading, read, zoneOf, zoneOfAll } from './reading.ts';
import { rollupPage } from './rollup.ts';
import { runsPage } from './runs.ts';
import { style } from './style.ts';
import { windowPage } from './window.ts';

/** What a browser may do with a page: show it with its stylesheet, and send the form. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function pages(
  control: Control,
  settings: Settings,
  logger: Logger,
  timeout: Duration = pageTimeout,
): Hono {
  const app = new Hono();
  app.get('/style.css', (context) => context.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));

  const answer = async (context: Context, work: () => Promise<Html>) => {
    context.header('content-security-policy', pagePolicy);
    try {
      return context.html(await work());
    } catch (error) {
      const { page, status } = faultPage(error, timeout);
      if (status === 500 || status === 503)
        logger.error({ err: error, path: context.req.path }, 'a page could not be read');
      return context.html(page, status);
    }
  };
  const page = (work: (reading: Reading) => Promise<Html>) => () =>
    read(control, zoneOfAll(settings), work, { timeout });
  /** Of a rollup, in its own zone. */
  const ofRollup = (
    name: string,
    work: (reading: Reading, rollup: Rollup) => Promise<Html>,
    mayMakeTemporaryTable = false,
  ) => {
    const chosen = settings.rollups.find((one) => one.name === name);
    if (!chosen)
      throw new NotThere(`there is no rollup ${JSON.stringify(name)}`, {
        detail: `the settings declare: ${settings.rollups.map((one) => one.name).join(', ')}`,
        hint: 'the overview lists them',
      });
    return read(
      control,
      zoneOf(chosen),
      async (reading) => work(reading, await known(reading, settings, chosen)),
      { timeout, mayMakeTemporaryTable },
    );
  };

  app.get('/', (context) =>
    answer(context, async () => {
      new Asked(context.req.url, []);
      return await page((reading) => overviewPage(reading, settings))();
    }),
  );
  app.get('/find', (context) =>
    answer(context, async () => {
      const asked = new Asked(context.req.url, ['number', 'rollup', 'period']);
      return await page((reading) => findPage(reading, settings, asked))();
    }),
  );
  app.get('/rollups/:name', (context) =>
    answer(context, async () => {
      const asked = new Asked(context.req.url, ['month', 'day', 'step']);
      return await ofRollup(context.req.param('name'), (reading, rollup) =>
        rollupPage(reading, rollup, asked),
      );
    }),
  );
  app.get('/rollups/:name/windows/:start', (context) =>
    answer(context, async () => {
      const asked = new Asked(context.req.url, ['key', 'end', 'step']);
      const { name, start } = context.req.param();
      return await ofRollup(name, (reading, rollup) => windowPage(reading, rollup, start, asked));
    }),
  );
  app.get('/rollups/:name/lateness', (context) =>
    answer(context, async () => {
      const asked = new Asked(context.req.url, ['days']);
      return await ofRollup(
        context.req.param('name'),
        (reading, rollup) => latenessPage(reading, settings, rollup, asked),
        true,
      );
    }),
  );
  for (const [name, takes, work] of [
    ['periods', ['close'], periodsPage],
    ['proposals', [], proposalsPage],
    ['runs', ['before'], runsPage],
  ] as const)
    app.get(`/rollups/:name/${name}`, (context) =>
      answer(context, async () => {
        const asked = new Asked(context.req.url, takes);
        return await ofRollup(context.req.param('name'), (reading, rollup) => work(reading, rollup, asked));
      }),
    );
  return app;
}

/** @throws NotThere where it is not migrated, or otherwise than the settings say. */
async function known(reading: Reading, settings: Settings, chosen: RollupSettings): Promise<Rollup> {
  try {
    return await publishedRollup(reading.transaction, settings, chosen);
  } catch (error) {
    if (error instanceof Failure) throw new NotThere(error.message, error);
    throw error;
  }
}
