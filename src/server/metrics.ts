/** `/metrics`: read from the database as it is asked for. Scrapes at one time share one answer. */
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { durationOf } from '../config/duration.ts';
import type { Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { readFigures } from '../report/metrics/figures.ts';
import { metricsText, metricsType } from '../report/metrics/text.ts';

/** Prometheus gives up after ten seconds by itself. */
const limits = { statementTimeout: durationOf(8_000_000n) };

export function metrics(control: Control, settings: Settings, logger: Logger): Hono {
  const app = new Hono();
  let underWay: Promise<string> | undefined;
  const read = async () =>
    await metricsText(await readFigures(control, settings, settings.rollups, { limits }));
  app.get('/metrics', async (context) => {
    underWay ??= read().finally(() => {
      underWay = undefined;
    });
    try {
      return context.text(await underWay, 200, { 'content-type': metricsType });
    } catch (error) {
      logger.error({ err: error }, 'the metrics could not be read');
      return context.text('the database does not answer\n', 503);
    }
  });
  return app;
}
