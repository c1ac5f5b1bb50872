/** `/healthz`: the process answers. `/readyz`: so does its database, with the control tables in it. */
import { Hono } from 'hono';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';

export interface HealthOptions {
  readonly control: Control;
  readonly schema: string;
  /** Ended: it is about to stop, and should be asked nothing more. */
  readonly stop: AbortSignal;
}

/** Neither needs a token, and neither says anything of the data. */
export function health({ control, schema, stop }: HealthOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    if (stop.aborted) return context.text('stopping\n', 503);
    return (await isReady(control, schema))
      ? context.text('ok\n')
      : context.text('no database answers\n', 503);
  });
  return app;
}

async function isReady(control: Control, schema: string): Promise<boolean> {
  try {
    const [row] = await query<{ there: boolean }>(control, 'select to_regclass($1) is not null as there', [
      `${quoteName(schema)}.due_moment`,
    ]);
    return row?.there === true;
  } catch {
    return false;
  }
}
