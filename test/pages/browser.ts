/** The pages as a browser shows them: without JavaScript, wide and narrow, in either light, and before an accessibility checker. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, openChromium } from '../support/chromium.ts';

/** With ERRATA_SCREENSHOTS=DIRECTORY the pages are kept there as pictures, in both lights and widths. */
const kept = process.env.ERRATA_SCREENSHOTS;

const looks = [
  ['light', 1280, 'light'],
  ['narrow-dark', 360, 'dark'],
  ...(kept
    ? ([
        ['dark', 1280, 'dark'],
        ['narrow-light', 360, 'light'],
      ] as const)
    : []),
] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary: string }[];
}

interface Seen {
  readonly isWider: boolean;
  readonly outside: string[];
  readonly paper: string;
}

// Texts, since they run in the page, whose names TypeScript does not know here.
const look = `(() => ({
  isWider: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  outside: [...document.querySelectorAll('body *')]
    .filter((one) => !one.closest('.scroll, pre, .aside, .skip') && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((one) => one.outerHTML.slice(0, 80)),
  paper: getComputedStyle(document.body).backgroundColor,
}))()`;
const openDetails = `document.querySelectorAll('details').forEach((one) => { one.open = true; })`;
const check = (
  rules: string,
) => `axe.run(document, { resultTypes: ['violations']${rules} }).then(({ violations }) => violations.map(({ id, nodes }) => ({
  id, nodes: nodes.slice(0, 3).map(({ target, failureSummary }) => ({ target, failureSummary }))
})))`;

/** @param pagesOf a name and an address each, once the databases are there */
export function inChromium(pagesOf: () => Promise<Readonly<Record<string, string>>>): void {
  describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
    if (chromiumPath === undefined)
      console.warn('No Chromium: the tests of the pages in a browser are skipped.');

    let browser: Browser;
    let all: (readonly [name: string, url: string])[] = [];
    beforeAll(async () => {
      all = Object.entries(await pagesOf());
      browser = await openChromium();
      if (kept) mkdirSync(kept, { recursive: true });
    }, 60_000);

    test.each(looks)(
      '%s, without JavaScript: nothing is refused, and nothing is wider than the screen',
      async (name, width, colorScheme) => {
        const context = await browser.newContext({
          viewport: { width, height: 800 },
          colorScheme,
          javaScriptEnabled: false,
        });
        const page = await context.newPage();
        const said: string[] = [];
        const asked = new Set<string>();
        page.on('console', (message) => said.push(message.text()));
        page.on('request', (request) => asked.add(new URL(request.url()).pathname));
        for (const [one, url] of all) {
          asked.clear();
          await page.goto(url);
          // it runs beside the page, whose own scripts are off
          const seen = await page.evaluate<Seen>(look);
          expect({ one, ...seen }).toEqual({
            one,
            isWider: false,
            outside: [],
            paper: colorScheme === 'dark' ? 'rgb(21, 25, 29)' : 'rgb(255, 255, 255)',
          });
          expect([...asked]).toEqual([new URL(url).pathname, '/style.css']);
          expect(await page.title()).toMatch(/ · Errata$/);
          if (kept) await page.screenshot({ path: join(kept, `${one}-${name}.png`), fullPage: true });
        }
        // a page that is not there says so by its status
        expect(said.filter((text) => !text.includes('404'))).toEqual([]);
        await context.close();
      },
      60_000,
    );

    test('the box finds, the details open, and a person walks from a rollup to a window: by keyboard, without JavaScript', async () => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        javaScriptEnabled: false,
      });
      const page = await context.newPage();
      const [, overview = ''] = all[0] ?? [];
      await page.goto(overview);
      await page.getByRole('textbox', { name: 'Printed number' }).fill('1,402');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Printed number 1,402' }).waitFor();
      await page.getByRole('link', { name: '2026-10-29, all keys together' }).first().click();
      await page.getByRole('heading', { name: 'Keyed windows' }).waitFor();
      await page.getByRole('row', { name: /EU/ }).getByRole('link').click();
      await page.getByRole('heading', { name: 'Its life' }).waitFor();
      const summary = page.locator('summary').first();
      await summary.focus();
      await page.keyboard.press('Enter');
      expect(await page.locator('details').first().locator('code').isVisible()).toBe(true);
      await context.close();
    }, 30_000);

    test.each(['light', 'dark'] as const)(
      '%s: axe-core finds nothing',
      async (colorScheme) => {
        const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
        // the checker is a script, which the pages would refuse
        const context = await browser.newContext({
          viewport: { width: 1280, height: 800 },
          colorScheme,
          bypassCSP: true,
        });
        const page = await context.newPage();
        // in the dark only colours differ, and four pages have them all
        for (const [place, [one, url]] of all.slice(0, colorScheme === 'dark' ? 4 : all.length).entries()) {
          await page.goto(url);
          if (place === 2) await page.evaluate(openDetails);
          await page.evaluate(axe);
          const rules = colorScheme === 'dark' ? `, runOnly: ['color-contrast']` : '';
          expect({ one, violations: await page.evaluate<Violation[]>(check(rules)) }).toEqual({
            one,
            violations: [],
          });
        }
        await context.close();
      },
      90_000,
    );
  });
}
