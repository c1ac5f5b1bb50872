/** The verbs, in the order of `errata --help`. A further one: its file in this directory, and its name in this list. */
import { amend } from '../commands/amend.ts';
import { check } from '../commands/check.ts';
import { demo } from '../commands/demo.ts';
import { digest } from '../commands/digest.ts';
import { drop } from '../commands/drop.ts';
import { events } from '../commands/events.ts';
import { explain } from '../commands/explain.ts';
import { find } from '../commands/find.ts';
import { init } from '../commands/init.ts';
import { lateness } from '../commands/lateness.ts';
import { migrate } from '../commands/migrate.ts';
import { pause } from '../commands/pause.ts';
import { plan } from '../commands/plan.ts';
import { publish } from '../commands/publish.ts';
import { reconcile } from '../commands/reconcile.ts';
import { release } from '../commands/release.ts';
import { rename } from '../commands/rename.ts';
import { resume } from '../commands/resume.ts';
import { run } from '../commands/run.ts';
import { sql } from '../commands/sql.ts';
import { status } from '../commands/status.ts';
import { verify } from '../commands/verify.ts';
import type { Verb } from './verb.ts';

export const verbs: readonly Verb[] = [
  init,
  check,
  migrate,
  plan,
  run,
  publish,
  release,
  amend,
  pause,
  resume,
  rename,
  drop,
  status,
  explain,
  find,
  events,
  reconcile,
  digest,
  verify,
  lateness,
  sql,
  demo,
];
