/** What is to be said of a keyed window before its timeline, in a sentence each. */

import type { RollupSettings } from '../../config/settings.ts';
import { amount, counted } from '../../output/amount.ts';
import { instantText } from '../instant-text.ts';
import type { Explanation, Version } from './explain.ts';

export function sentencesOf(explanation: Explanation, settings: RollupSettings): string[] {
  const { is_incomplete: isIncomplete, versions, events } = explanation;
  const order = settings.measures.map(({ name }) => name);
  if (explanation.known_at) return thenSentences(explanation, order);
  const sentences: string[] = [];
  if (isIncomplete)
    sentences.push(
      `Bronze is complete from ${instantText(explanation.complete_from)} on and the window starts earlier, so it is not computed.`,
    );
  if (explanation.is_open) sentences.push(...openSentences(explanation, order));
  else if (versions.length === 0 && explanation.queue.some(({ cause }) => cause === 'unsealed'))
    sentences.push(
      'It is sealed, and its version 1 is still to be written, over the rows that landed open: a measure of it cannot be computed.',
    );
  else if (versions.length > 0) sentences.push(...publishedSentences(versions, order));
  else if (events.some(({ landing }) => landing !== null))
    sentences.push('It is sealed, and nothing shipped for this key: no row of it had arrived by then.');
  else if (!isIncomplete)
    sentences.push('It is sealed, and holds no rows: nothing shipped and nothing came later.');
  return sentences;
}

/** Whether a window without versions was sealed then is not on record. */
function thenSentences(
  { is_open: isOpen, window_end: end, versions }: Explanation,
  order: readonly string[],
) {
  if (versions.length > 0) return publishedSentences(versions, order, true);
  return [
    isOpen ? `It was still open: it ends ${instantText(end)}.` : 'Nothing of it had been published by then.',
  ];
}

function openSentences(explanation: Explanation, order: readonly string[]): string[] {
  const { sealed_until: until, window_end: end, so_far: soFar, bronze_error: error } = explanation;
  const stands =
    until === null ? 'no run has sealed anything yet' : `the watermark stands at ${instantText(until)}`;
  const far = soFar
    ? `so far bronze holds ${order.map((name) => `${name} ${amount(soFar[name])}`).join(', ')}`
    : error
      ? 'what bronze holds of it so far cannot be read'
      : 'bronze holds no rows of it so far';
  return [`It is still open: it ends ${instantText(end)} and ${stands}; ${far}.`];
}

function publishedSentences(
  versions: readonly Version[],
  order: readonly string[],
  isThen = false,
): string[] {
  const [first] = versions;
  const last = versions.at(-1);
  if (!first || !last) return [];
  const corrections = versions.filter(({ version }) => version > 1).length;
  const shipped =
    first.version === 1
      ? `${valuesText(first, order)} shipped`
      : 'Nothing shipped for this key when its window was sealed';
  if (corrections === 0) return [`${capital(shipped)}, and that still ${isThen ? 'stood' : 'stands'}.`];
  const [holds, is] = isThen ? ['held', 'was'] : ['holds', 'is'];
  const now = last.is_void ? `it ${holds} no events any more (void)` : `it ${is} ${valuesText(last, order)}`;
  return [`${capital(shipped)}; after ${counted(corrections, 'correction')} ${now}.`];
}

function valuesText({ measures }: Version, order: readonly string[]): string {
  return order.map((name) => `${name} ${amount(measures[name]?.new)}`).join(', ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
