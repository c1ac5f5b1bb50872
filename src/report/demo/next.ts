/** What to try after the demo. Each line works as printed when it is pasted into a POSIX shell, in this order. */

import { errataCommand, pathFrom, shellWord } from '../shell.ts';
import { examplePath } from './load.ts';

/** @param url of the demo's database. @param directory from which the commands will be called */
export function nextLines(url: string, directory: string, dataDirectory: string): string[] {
  const { hostname, port, username, password, pathname } = new URL(url);
  const errata = errataCommand(directory);
  const settings = shellWord(pathFrom(directory, examplePath('orders', 'errata.yaml')));
  return [
    'NEXT, in this shell and directory:',
    '',
    `  export DATABASE_URL=${shellWord(url)} ERRATA_CONFIG=${settings}`,
    '',
    'The whole life of one number; a person releases order 8841, and says why; the same number afterwards; what awaits a person:',
    '',
    `  ${errata} explain daily_orders 2026-10-29 EU`,
    `  ${errata} publish daily_orders --event 8841 --actor ada --reason 'confirmed by the shop'`,
    `  ${errata} explain daily_orders 2026-10-29 EU`,
    `  ${errata} status`,
    '',
    'With psql:',
    '',
    `  psql "$DATABASE_URL" -c 'select local_date, region, orders, version from gold.daily_orders_latest order by 1, 2'`,
    '',
    `In a BI tool: host ${hostname}, port ${port}, database ${pathname.slice(1)}, user ${username}, password ${password}, no TLS;`,
    'read gold.daily_orders_latest and gold.daily_changes_latest. Settings to copy: examples/orders/errata.yaml.',
    '',
    `The server runs on, and its data stay in ${dataDirectory}.`,
    'To stop it; to stop it and remove its data:',
    '',
    `  ${errata} demo --stop`,
    `  ${errata} demo --remove`,
  ];
}
