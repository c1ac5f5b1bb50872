/** A document's blocks against what they show when they are carried out; ERRATA_WRITE_README=1 writes that into it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const isWriting = process.env.ERRATA_WRITE_README !== undefined;

/**
 * @param shown what a block of this kind should hold; undefined: it is input, or none of this test's.
 * @param mask hides what differs from one time to the next.
 */
export async function compare(
  file: string,
  shown: (kind: string, text: string) => Promise<string | undefined>,
  mask: (text: string) => string = (text) => text,
): Promise<void> {
  const document = readFileSync(file, 'utf8');
  let [written, end] = ['', 0];
  for (const match of document.matchAll(/^```([a-z ]+)\n([\s\S]*?)^```\n/gm)) {
    const [block, kind = '', text = ''] = match;
    const found = await shown(kind, text);
    if (found !== undefined && !isWriting) expect(mask(text)).toBe(mask(found));
    written += document.slice(end, match.index);
    written += found === undefined ? block : `\`\`\`${kind}\n${found}\`\`\`\n`;
    end = match.index + block.length;
  }
  if (isWriting) writeFileSync(file, written + document.slice(end));
}
