import type { z } from 'zod';
import { durationOf } from '../duration.ts';
import { leaf, section, span } from '../leaf.ts';
import type { Reading } from '../reading.ts';
import type { NoticeSettings } from '../settings.ts';

export const noticesShape = section(
  {
    webhook: leaf(readWebhook, `write an address, such as \${ERRATA_WEBHOOK}`).describe(
      'Where a run that changed published numbers says so, by POST. It may hold a token, so best a variable.',
    ),
    secret: leaf(readSecret, `write \${ERRATA_WEBHOOK_SECRET}`)
      .optional()
      .describe('Signs each notice (HMAC SHA-256, header errata-signature); left out: they are not signed.'),
    timeout: span.optional().describe('How long one delivery may take; left out: 10 seconds.'),
    keep: span
      .optional()
      .describe('How long notices that were delivered stay in errata.outbox; left out: 90 days.'),
  },
  `write { webhook: \${ERRATA_WEBHOOK} }`,
);

export function noticeSettings(
  notices: z.output<typeof noticesShape> | undefined,
): NoticeSettings | undefined {
  if (notices === undefined) return undefined;
  const { webhook, secret, timeout, keep } = notices;
  return {
    webhook,
    secret,
    timeout: timeout ?? durationOf(10_000_000n),
    keep: keep ?? durationOf(90n * 86_400_000_000n),
  };
}

/** Never shown in a fault, since it may hold a token. */
function readWebhook(text: string): Reading<string> {
  if (!/^https?:\/\/[^\s/]\S*$/i.test(text) || !URL.canParse(text))
    return { wrong: `is no address; write https://host/path, best as \${ERRATA_WEBHOOK}` };
  const { username, password } = new URL(text);
  // fetch refuses them
  return username === '' && password === ''
    ? { value: text }
    : { wrong: 'names a user before its host, which is never sent; put a token into the path' };
}

function readSecret(text: string): Reading<string> {
  return text.length >= 16
    ? { value: text }
    : { wrong: `is too short to sign with; write at least 16 characters, best as \${ERRATA_WEBHOOK_SECRET}` };
}
