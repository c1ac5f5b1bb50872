/** The frame of every page: its head, where one is, the box for a printed number, and what it was read with. */
import { html } from 'hono/html';
import { type Html, momentText } from './cells.ts';

export interface Page {
  readonly title: string;
  readonly lead?: Html | string;
  /** The rollup that it is about, and which of its pages it is. */
  readonly rollup?: string;
  readonly here?: Section;
  readonly body: Html;
  /** The instant as of which it was read, and whose zone instants are written in. */
  readonly read?: { readonly at: string; readonly zone: string };
  /** The page has a box of its own. */
  readonly withoutBox?: boolean;
}

export type Section = 'windows' | 'lateness' | 'periods' | 'proposals' | 'runs';

const sections: readonly (readonly [Section, string, string])[] = [
  ['windows', '', 'Windows'],
  ['lateness', '/lateness', 'Lateness'],
  ['periods', '/periods', 'Periods'],
  ['proposals', '/proposals', 'Proposals'],
  ['runs', '/runs', 'Runs'],
];

export function documentOf(page: Page): Html {
  const { title, lead, rollup, here, body, read, withoutBox } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Errata</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the figures</a>
<div class="top">
<nav aria-label="Rollups"><a class="brand" href="/">Errata</a></nav>
${
  withoutBox
    ? ''
    : html`<form class="box" action="/find" method="get" role="search" aria-label="Printed number">
<label for="number">Printed number</label>
<input id="number" name="number" required maxlength="100" autocomplete="off" placeholder="1,402">
<button>Find</button>
</form>`
}
</div>
<header>
<h1>${title}</h1>
${lead === undefined ? '' : html`<p class="lead">${lead}</p>`}
${
  rollup === undefined
    ? ''
    : html`<nav aria-label="Pages of ${rollup}"><ul>${sections.map(
        ([section, path, name]) =>
          html`<li><a href="/rollups/${rollup}${path}"${section === here ? html` aria-current="page"` : ''}>${name}</a></li>`,
      )}</ul></nav>`
}
</header>
<main id="main" tabindex="-1">
${body}
</main>
${
  read === undefined
    ? ''
    : html`<footer><p class="note">Read ${momentText(read.at)}. Instants are in ${read.zone}. This page writes nothing.</p></footer>`
}
</body>
</html>
`;
}

export function section(id: string, title: string, body: Html | readonly Html[]): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}
</section>
`;
}

/** A step to the rows before and after; nothing where there are none. */
export function steps(
  label: string,
  links: readonly (readonly [text: string, href: string | undefined])[],
): Html {
  const there = links.filter((link): link is readonly [string, string] => link[1] !== undefined);
  if (there.length === 0) return html``;
  return html`<nav class="steps" aria-label="${label}"><ul>${there.map(([text, href]) => html`<li><a href="${href}">${text}</a></li>`)}</ul></nav>`;
}
