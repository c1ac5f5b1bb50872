/** The verbs, in the order of `errata --help`. A further one: its file in this directory, and its name in this list. */
import { amend } from '../commands/amend.ts';
import { approve } from '../commands/approve.ts';
import { changes } from '../commands/changes.ts';
import { check } from '../commands/check.ts';
import { close } from '../commands/close.ts';
import { demo } from '../commands/demo.ts';
import { digest } from '../commands/digest.ts';
import { drop } from '../commands/drop.ts';
import { events } from '../commands/events.ts';
import { explain } from '../commands/explain.ts';
import { find } from '../commands/find.ts';
import { grants } from '../commands/grants.ts';
import { init } from '../commands/init.ts';
import { lateness } from '../commands/lateness.ts';
import { mark } from '../commands/mark.ts';
import { metrics } from '../commands/metrics.ts';
import { migrate } from '../commands/migrate.ts';
import { notify } from '../commands/notify.ts';
import { pause } from '../commands/pause.ts';
import { periods } from '../commands/periods.ts';
import { plan } from '../commands/plan.ts';
import { publish } from '../commands/publish.ts';
import { reconcile } from '../commands/reconcile.ts';
import { reject } from '../commands/reject.ts';
import { release } from '../commands/release.ts';
import { rename } from '../commands/rename.ts';
import { reopen } from '../commands/reopen.ts';
import { restate } from '../commands/restate.ts';
import { resume } from '../commands/resume.ts';
import { review } from '../commands/review.ts';
import { run } from '../commands/run.ts';
import { serve } from '../commands/serve.ts';
import { sql } from '../commands/sql.ts';
import { statement } from '../commands/statement.ts';
import { status } from '../commands/status.ts';
import { verify } from '../commands/verify.ts';
import { waive } from '../commands/waive.ts';
import type { Verb } from './verb.ts';

export const verbs: readonly Verb[] = [
  init,
  check,
  grants,
  migrate,
  plan,
  run,
  serve,
  publish,
  review,
  approve,
  reject,
  waive,
  restate,
  close,
  reopen,
  periods,
  release,
  amend,
  pause,
  resume,
  rename,
  drop,
  mark,
  notify,
  status,
  metrics,
  explain,
  changes,
  find,
  events,
  reconcile,
  statement,
  digest,
  verify,
  lateness,
  sql,
  demo,
];
