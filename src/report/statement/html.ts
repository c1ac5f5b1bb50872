/** The statement as a page for people: one file, read in a browser or printed. Long lists are cut, and say so. */
import type { Basis } from './basis.ts';
import { type PageParts, seconds } from './cells.ts';
import { facts, paragraph, span } from './markup.ts';
import { sectionsOf } from './sections.ts';
import { style } from './style.ts';

/** So many rows of each list stand on the page; totals are always whole. */
export const pageRows = 1000;

export function statementPage(parts: PageParts): string {
  const { basis } = parts;
  const { name } = basis.rollup.settings;
  const title = `${name}, ${basis.period}`;
  const sections = sectionsOf(parts);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${span('', `Statement: ${title}`).html.replaceAll(/<\/?span[^>]*>/g, '')}</title>`,
    `<style>\n${style}\n</style>`,
    '</head>',
    '<body>',
    '<header>',
    `<h1>${span('', title).html}</h1>`,
    paragraph(`Statement of what was known until ${seconds(basis.stamp)}`, 'lead'),
    ...heading(basis),
    `<nav aria-label="Sections"><ul>${sections.map(({ id, title: name }) => `<li><a href="#${id}">${name}</a></li>`).join('')}</ul></nav>`,
    '</header>',
    '<main>',
    ...sections.map(
      ({ id, title: name, body }) =>
        `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title">${name}</h2>\n${body.join('\n')}\n</section>`,
    ),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function heading({ close, mark, period, periodStart, periodEnd, timeZone, rollup }: Basis): string[] {
  const { gold } = rollup.settings;
  const state =
    close === null
      ? 'not closed by then'
      : `${close.act === 'hard_close' ? 'closed' : `closed softly, for ${close.posting_role}`} on ${seconds(close.closed_at)} by ${close.actor}${close.reason ? `: ${close.reason}` : ''}`;
  return [
    facts([
      [
        'Period',
        `${period}: windows that start from ${seconds(periodStart)} until ${seconds(periodEnd)}, exclusive`,
      ],
      ['State', state],
      ...(mark === null ? [] : ([['Mark', mark]] as const)),
      ['Table', `${gold.schema}.${gold.name}`],
      ['Days', `of ${timeZone} where windows follow no calendar`],
    ]),
    ...(close?.is_forced
      ? [
          paragraph(
            'It was closed before all of its windows were sealed: what was sealed later is not in it.',
            'warn',
          ),
        ]
      : []),
    ...(close?.reopened_at ? [paragraph(`It was reopened on ${seconds(close.reopened_at)}.`, 'warn')] : []),
  ];
}
