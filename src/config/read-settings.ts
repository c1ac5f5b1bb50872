import { Failure } from '../failure.ts';
import { readDocument } from './document.ts';
import type { Environment } from './environment.ts';
import { Faults } from './faults.ts';
import { reportIssues } from './issues.ts';
import { Places } from './place.ts';
import { alertFaults } from './section/alerts.ts';
import { fileShape, readUrl } from './section/file.ts';
import { limitSettings } from './section/limits.ts';
import { noticeSettings } from './section/notices.ts';
import { periodFaults, periodSettings } from './section/periods.ts';
import { roleFaults, roleSettings } from './section/roles.ts';
import { mappingAt, rollupFaults, rollupSettings } from './section/rollup.ts';
import { tableFaults } from './section/table-use.ts';
import type { Settings } from './settings.ts';
import { readSource } from './source.ts';

/**
 * Reads `errata.yaml` at `path`, with variables from `env` (usually `process.env`).
 *
 * Throws one `Failure` (exit 2) that lists all faults in the order of the file, each as
 * `errata.yaml:LINE:COLUMN  path: what is wrong; what to write`. Values of variables are never in it.
 */
export function readSettings(path: string, env: Environment): Settings {
  return parseSettings(readSource(path), path, env);
}

/** As `readSettings`, of a text; `file` names it in faults. */
export function parseSettings(text: string, file: string, env: Environment): Settings {
  const places = new Places();
  const faults = new Faults(file, places);
  const root = readDocument(text, env, places, faults) ?? undefined;
  if (root === undefined) {
    throw new Failure(`${file} is empty`, {
      hint: 'run `errata init` to write a starting file',
      exitCode: 2,
    });
  }
  const parsed = fileShape.safeParse(root);
  if (!parsed.success) reportIssues(parsed.error.issues, root, faults);
  crossFaults(root, env, faults);
  faults.throwIfAny();
  if (!parsed.success) throw new Error('zod refused the settings without an issue');
  const { database, schema, rollups, periods, roles, run } = parsed.data;
  const limits = limitSettings(run);
  const notices = noticeSettings(parsed.data.notices);
  const { alerts } = parsed.data;
  const calendar = periodSettings(periods, rollups);
  return {
    database: database ?? (env.DATABASE_URL || undefined),
    schema: schema ?? 'errata',
    rollups: Object.entries(rollups).map(([name, rollup]) =>
      rollupSettings(name, rollup, ['rollups', name], places, { limits, notices, periods: calendar, alerts }),
    ),
    periods: calendar,
    roles: roleSettings(roles, places),
    limits,
    notices,
    file,
  };
}

/** The faults that lie between settings. They are sought in the raw tree, so that a fault of form hides none of them. */
function crossFaults(root: unknown, env: Environment, faults: Faults): void {
  const file = mappingAt({ root }, 'root');
  if (file === undefined) return;
  const fallback = file.database === undefined && env.DATABASE_URL ? readUrl(env.DATABASE_URL) : undefined;
  if (fallback && 'wrong' in fallback)
    faults.about(['database'], `the value of \${DATABASE_URL} ${fallback.wrong}`);
  const roles = mappingAt(file, 'roles');
  if (roles) roleFaults(roles, faults);
  const alerts = mappingAt(file, 'alerts');
  if (alerts) alertFaults(alerts, ['alerts'], faults);
  const rollups = mappingAt(file, 'rollups');
  if (rollups === undefined) return;
  if (Object.keys(rollups).length === 0) {
    faults.about(['rollups'], 'holds no rollup; write one, as `errata init` shows');
  }
  for (const name of Object.keys(rollups)) {
    const rollup = mappingAt(rollups, name);
    if (rollup) rollupFaults(name, rollup, ['rollups', name], faults);
  }
  tableFaults(rollups, faults);
  periodFaults(file.periods, rollups, faults);
}
