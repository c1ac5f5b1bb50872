/** The verbs, in the order of `errata --help`. A further one: its file in this directory, and its name in this list. */
import { amend } from './amend.ts';
import { check } from './check.ts';
import { demo } from './demo.ts';
import { explain } from './explain.ts';
import { init } from './init.ts';
import { lateness } from './lateness.ts';
import { migrate } from './migrate.ts';
import { plan } from './plan.ts';
import { publish } from './publish.ts';
import { run } from './run.ts';
import { sql } from './sql.ts';
import { status } from './status.ts';
import type { Verb } from './verb.ts';

export const verbs: readonly Verb[] = [
  init,
  check,
  migrate,
  plan,
  run,
  publish,
  amend,
  status,
  explain,
  lateness,
  sql,
  demo,
];
