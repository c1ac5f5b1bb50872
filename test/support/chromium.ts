/** Debian's Chromium, where the machine has it. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { onFileEnd } from './file-end.ts';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined: there is none, and whoever needs it says that its tests are skipped. */
export const chromiumPath = process.env.ERRATA_TEST_CHROMIUM ?? places.find((place) => existsSync(place));

/** Closed when the test file ends. */
export async function openChromium(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath as string,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  onFileEnd(() => browser.close());
  return browser;
}
