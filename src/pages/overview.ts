/** Every rollup at a glance: last success, lag, backlog, windows corrected, what is pending, and what needs a person. */
import { html, raw } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import { query } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import { type Content, paragraph } from '../report/statement/markup.ts';
import { change, count, type Html, link, moment, shown, time } from './cells.ts';
import { figureOf } from './figure.ts';
import { documentOf } from './layout.ts';
import { type Executed, type Reading, zoneOf, zoneOfAll } from './reading.ts';
import { type PendingRows, type Queued, type Standing, type Warning, warningsOf } from './warnings.ts';

export async function overviewPage(reading: Reading, settings: Settings): Promise<Html> {
  const parts: Html[] = [];
  for (const chosen of settings.rollups) parts.push(await partOf(reading, settings, chosen));
  await reading.setZone(zoneOfAll(settings));
  return documentOf({
    title: 'Rollups',
    lead: 'What shipped, what was corrected beside it, and what awaits a person.',
    body: html`${parts}`,
    read: { at: reading.at, zone: 'the time zone of each rollup' },
  });
}

async function partOf(reading: Reading, settings: Settings, chosen: RollupSettings): Promise<Html> {
  const { transaction } = reading;
  const zone = zoneOf(chosen);
  await reading.setZone(zone);
  // one whose relations are not as the settings say hides no other
  await query(transaction, 'savepoint errata_page');
  try {
    const rollup = await publishedRollup(transaction, settings, chosen);
    return rollupPart(rollup, zone, await standingOf(reading, rollup));
  } catch (error) {
    const isOurs = error instanceof Failure;
    if (!isOurs && !/^(42|57014|55P03)/.test((error as { code?: string }).code ?? '')) throw error;
    await query(transaction, 'rollback to savepoint errata_page');
    await reading.setZone(zone);
    return html`<section aria-labelledby="${chosen.name}"><h2 id="${chosen.name}">${chosen.name} <span class="state fails">cannot be read</span></h2>
<ul class="warnings"><li>${isOurs ? error.message : 'the database did not give its figures'}${isOurs && error.hint ? `: ${error.hint}` : ''}</li></ul></section>`;
  }
}

export interface Stands {
  readonly standing: Executed<Standing>;
  readonly queue: Executed<Queued>;
  readonly pending: Executed<PendingRows>;
}

export async function standingOf(reading: Reading, rollup: Rollup): Promise<Stands> {
  const bindings = bindingsOf(rollup);
  const standing = await reading.figures<Standing>('pages/standing.sql', 'auditor', bindings, {
    rollup_id: rollup.id,
    at: reading.at,
  });
  const { watermark = null, complete_from: completeFrom = '-infinity' } = standing.rows[0] ?? {};
  return {
    standing,
    queue: await reading.figures<Queued>('report/queue.sql', 'auditor', bindings, {
      sealed_until: watermark,
      complete_from: completeFrom,
      at: reading.at,
    }),
    pending: await reading.figures<PendingRows>('pages/pending.sql', 'auditor', bindings, {
      rollup_id: rollup.id,
    }),
  };
}

function rollupPart({ settings, measures }: Rollup, zone: string, stands: Stands): Html {
  const { name, gold, window } = settings;
  const standing = stands.standing.rows[0] as Standing;
  const warnings = warningsOf(settings, standing, stands.queue.rows, stands.pending.rows);
  const tiles: Tile[] = [
    {
      name: 'Last success',
      figure: standing.last_success === null ? 'never' : time(standing.last_success_age),
      more: standing.last_success === null ? [] : ['ago, ', moment(standing.last_success)],
    },
    {
      name: 'Watermark lag',
      figure: time(standing.watermark_lag),
      more:
        standing.watermark === null ? ['nothing is sealed'] : ['sealed until ', moment(standing.watermark)],
    },
    backlogTile(stands.queue.rows),
    {
      name: 'Windows corrected',
      figure: count(standing.windows_corrected ?? '0'),
      more: ['by all runs; ', count(standing.windows_sealed ?? '0'), ' sealed'],
    },
    pendingTile(stands.pending.rows),
    ...measures
      .filter(({ isAdditive, isNumeric }) => isAdditive && isNumeric && window.kind !== 'hopping')
      .flatMap(({ name: measure }): Tile[] =>
        stands.pending.rows.map(({ measures: amounts, waits_for: waitsFor }) => ({
          name: `Pending ${measure}`,
          figure: change(amounts[measure]),
          more: [pendingWords[waitsFor]],
        })),
      ),
    {
      name: 'Proposals open',
      figure: count(standing.open_proposals),
      more: standing.held_proposals === '0' ? [] : [count(standing.held_proposals), ' held by a close'],
    },
    {
      name: 'Unexplained',
      figure: standing.unexplained === null ? 'not swept' : count(standing.unexplained),
      more:
        standing.swept_at === null
          ? ['by errata reconcile']
          : ['at the sweep of ', moment(standing.swept_at)],
    },
  ];
  return html`<section aria-labelledby="${name}">
<h2 id="${name}"><a href="/rollups/${name}">${name}</a> ${stateOf(warnings)}</h2>
${raw(paragraph(`${gold.schema}.${gold.name}, in ${zone}`, 'note'))}
${figureOf(name, html`${warningList(warnings)}${tilesOf(tiles)}`, [stands.standing, stands.queue, stands.pending])}
</section>
`;
}

function backlogTile(queue: readonly Queued[]): Tile {
  const waiting = queue.filter(({ waits_for: waitsFor }) => waitsFor === 'run');
  const [oldest] = waiting;
  const other = queue.filter(({ waits_for: waitsFor }) => waitsFor !== 'run');
  return {
    name: 'Backlog',
    figure: oldest ? count(oldest.keyed_windows) : '0',
    more: [
      ...(oldest
        ? ['keyed windows wait for a run, the oldest for ', time(oldest.age_seconds)]
        : ['no window waits for a run']),
      ...other.flatMap(({ waits_for: waitsFor, keyed_windows: windows }) => [
        '; ',
        count(windows),
        ` ${queueWords[waitsFor]}`,
      ]),
    ],
  };
}

const queueWords = {
  run: 'wait for a run',
  seal: 'wait for their seal',
  blocked: 'blocked',
  failing: 'failing',
};

const pendingWords = { person: 'awaits a person', proposal: 'in a proposal', run: 'waits for a run' };

function pendingTile(pending: readonly PendingRows[]): Tile {
  const awaits = pending.find(({ waits_for: waitsFor }) => waitsFor === 'person');
  const others = pending.filter(({ waits_for: waitsFor }) => waitsFor !== 'person');
  return {
    name: 'Pending rows',
    figure: awaits ? count(awaits.rows) : '0',
    more: [
      ...(awaits
        ? ['in ', count(awaits.windows), awaits.windows === '1' ? ' window' : ' windows']
        : ['none awaits a person by itself']),
      ...others.flatMap(({ rows, waits_for: waitsFor }) => ['; ', count(rows), ` ${pendingWords[waitsFor]}`]),
    ],
  };
}

export interface Tile {
  readonly name: string;
  readonly figure: Content;
  readonly more: readonly Content[];
}

export function tilesOf(tiles: readonly Tile[]): Html {
  return html`<dl class="tiles">${tiles.map(
    ({ name, figure, more }) =>
      html`<div><dt>${name}</dt><dd>${shown(figure)}</dd>${more.length > 0 ? html`<dd class="more">${more.map(shown)}</dd>` : ''}</div>`,
  )}</dl>`;
}

export function stateOf(warnings: readonly Warning[]): Html {
  if (warnings.some(({ fails }) => fails)) return html`<span class="state fails">failing</span>`;
  if (warnings.length > 0)
    return html`<span class="state asks">${counted(warnings.length, 'warning')}</span>`;
  return html`<span class="state">in order</span>`;
}

export function warningList(warnings: readonly Warning[]): Html {
  if (warnings.length === 0) return html``;
  return html`<ul class="warnings">${warnings.map(
    ({ text, next, see }) =>
      html`<li>${text}${next ? html`; next: <code class="code">${next}</code>` : ''}${see ? html` (${shown(link(see.href, see.text))})` : ''}</li>`,
  )}</ul>`;
}
