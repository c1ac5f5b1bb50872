/** The runs of a rollup: what each did, when, at whose word, and how it ended. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { span } from '../report/statement/markup.ts';
import type { Asked } from './asked.ts';
import { count, type Html, moment, number, time, who } from './cells.ts';
import { figureTable } from './figure.ts';
import { documentOf, section, steps } from './layout.ts';
import type { Reading } from './reading.ts';

interface Run {
  readonly run_id: string;
  readonly verb: string;
  readonly outcome: 'running' | 'done' | 'attention' | 'failed';
  readonly started_at: string;
  readonly took: string | null;
  readonly bound: string | null;
  readonly stamp: string | null;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly db_role: string;
  readonly rows_examined: string | null;
  readonly late_firing: string | null;
  readonly side_output: string | null;
  readonly windows_sealed: string | null;
  readonly windows_corrected: string | null;
  readonly windows_proposed: string | null;
  readonly failure: string | null;
}

const runsShown = 100;
const outcomes = {
  running: 'running',
  done: 'done',
  attention: 'done, a person is needed',
  failed: 'failed',
};

/** @param asked `before`: a run */
export async function runsPage(reading: Reading, rollup: Rollup, asked: Asked): Promise<Html> {
  const { name } = rollup.settings;
  const before = asked.id('before');
  const runs = await reading.figures<Run>('pages/runs.sql', 'auditor', bindingsOf(rollup), {
    rollup_id: rollup.id,
    before_run: before ?? null,
    at_most: runsShown,
  });
  const last = runs.rows.at(-1);
  return documentOf({
    title: `${name}: runs`,
    rollup: name,
    here: 'runs',
    read: reading,
    body: section('runs', before === undefined ? 'The latest runs' : `Runs before ${before}`, [
      runs.rows.length === 0
        ? html`<p>There is none.</p>`
        : figureTable(
            {
              caption: `Runs, the latest first, at most ${runsShown}`,
              head: [
                { title: 'Run' },
                { title: 'Verb' },
                { title: 'Started' },
                { title: 'Outcome' },
                { title: 'Examined', isNumber: true },
                { title: 'Late firing', isNumber: true },
                { title: 'Refused', isNumber: true },
                { title: 'Sealed', isNumber: true },
                { title: 'Corrected', isNumber: true },
                { title: 'Proposed', isNumber: true },
                { title: 'By', isWide: true },
                { title: 'Took', isNumber: true },
                { title: 'Bound' },
                { title: 'Database role' },
              ],
              rows: runs.rows.map((run) => [
                number(run.run_id),
                run.verb,
                moment(run.started_at),
                run.failure === null ? outcomes[run.outcome] : `failed: ${run.failure}`,
                ...[
                  run.rows_examined,
                  run.late_firing,
                  run.side_output,
                  run.windows_sealed,
                  run.windows_corrected,
                  run.windows_proposed,
                ].map(count),
                run.actor === null ? span('zero', '–') : who(run.actor, run.reason),
                time(run.took),
                moment(run.bound),
                run.db_role,
              ]),
            },
            runs,
          ),
      steps('Runs', [
        ['The latest', before === undefined ? undefined : `/rollups/${name}/runs`],
        [
          'Earlier runs',
          runs.rows.length === runsShown && last ? `/rollups/${name}/runs?before=${last.run_id}` : undefined,
        ],
      ]),
    ]),
  });
}
