/**
 * How pages write what stands in their tables. A figure stands as `<data value="…">`, exactly as PostgreSQL printed it, and is
 * shown with thousands apart; an instant is shown to the second, with its offset.
 */
import { html, raw } from 'hono/html';
import type { RollupSettings } from '../config/settings.ts';
import { amount, difference } from '../output/amount.ts';
import { spanText } from '../report/instant-text.ts';
import { keyValueText } from '../report/keyed-window.ts';
import { percentText } from '../report/lateness/figures.ts';
import { isZero } from '../report/statement/cells.ts';
import { type Content, type Markup, span } from '../report/statement/markup.ts';

export type Html = ReturnType<typeof html>;

/** Nothing in a page is awaited, so its markup is a text at once. */
export function markup(piece: Html): Markup {
  if (piece instanceof Promise) throw new Error('markup was awaited');
  return { html: piece.toString() };
}

/** A cell within a sentence. */
export function shown(content: Content): Html | string {
  return typeof content === 'string' ? content : raw(content.html);
}

const none = span('zero', '–');

export function exact(value: string | null | undefined, shown: string): Content {
  if (value === null || value === undefined) return none;
  return markup(html`<data value="${value}">${shown}</data>`);
}

export function number(value: string | null | undefined): Content {
  return exact(value, amount(value));
}

/** Zero is the rule and stands back. */
export function count(value: string | null | undefined): Content {
  if (value && isZero(value)) return markup(html`<data class="zero" value="${value}">0</data>`);
  return number(value);
}

export function change(value: string | null | undefined): Content {
  if (value && isZero(value))
    return markup(html`<data class="zero" value="${value}">${amount(value)}</data>`);
  return exact(value, difference(value));
}

/** In percent, to three digits that count; the figure itself has them all. */
export function share(value: string | null | undefined): Content {
  if (value === null || value === undefined) return none;
  return exact(value, percentText(value));
}

export function time(seconds: string | null | undefined): Content {
  return seconds === null || seconds === undefined ? none : exact(seconds, shortSpan(seconds));
}

/** Lateness is often below a second, which counts there. */
export function shortSpan(seconds: string): string {
  const match = /^(-?\d)\.(\d+)$/.exec(seconds);
  if (!match) return spanText(seconds);
  return `${`${match[1]}.${match[2]}`.replace(/(\.\d{3})\d+$/, '$1').replace(/\.?0+$/, '')} seconds`;
}

export function moment(instant: string | null | undefined): Content {
  if (instant === null || instant === undefined) return none;
  return markup(html`<data class="nowrap" value="${instant}">${momentText(instant)}</data>`);
}

/** `2026-10-29 20:02:00.000001+02` → `2026-10-29 20:02:00 +02`; UTC is `Z`. */
export function momentText(instant: string): string {
  const match = /^(.*?\d\d:\d\d:\d\d)(?:\.\d+)?([+-].*)$/.exec(instant);
  if (!match) return instant;
  return match[2] === '+00' ? `${match[1]}Z` : `${match[1]} ${match[2]}`;
}

export function words(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(', ').replaceAll('_', ' ');
}

export interface WindowRow {
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
  /** Texts of the key columns, in their order. */
  readonly key: readonly (string | null)[];
}

/** A calendar day by its date; else both ends, the second shortened where it is on the same day. */
export function windowName({ window }: RollupSettings, row: Omit<WindowRow, 'key'>): string {
  const [start, end] = [momentText(row.window_start), momentText(row.window_end)].map((text) =>
    text.replace(/(\d\d:\d\d):00(?=Z| )/, '$1'),
  ) as [string, string];
  const isDays = window.kind === 'calendar' && window.unit !== 'hour' && / 00:00(Z| )/.test(start);
  if (isDays && window.kind === 'calendar' && window.unit === 'day' && window.count === 1)
    return start.slice(0, 10);
  if (isDays) return `${start.slice(0, 10)} to ${end.slice(0, 10)}`;
  const [offset, ofEnd] = [start, end].map((text) => text.slice(16));
  const from = offset === ofEnd ? start.slice(0, 16) : start;
  return `${from} to ${start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`;
}

export function windowPath(settings: RollupSettings, row: WindowRow): string {
  const start = encodeURIComponent(row.window_start.replace(' ', 'T'));
  const more = new URLSearchParams();
  if (settings.key.length > 0) more.set('key', JSON.stringify(row.key));
  if (settings.window.kind === 'session') more.set('end', row.window_end.replace(' ', 'T'));
  const asked = more.toString();
  return `/rollups/${settings.name}/windows/${start}${asked && `?${asked}`}`;
}

export function windowLink(settings: RollupSettings, row: WindowRow): Content {
  return link(windowPath(settings, row), windowName(settings, row), 'nowrap');
}

export function link(href: string, text: string, className = ''): Markup {
  return markup(html`<a class="${className}" href="${href}">${text}</a>`);
}

export function keyCells(key: WindowRow['key']): Content[] {
  return key.map((value) => {
    if (value === null) return span('zero', 'NULL');
    if (value === '') return span('zero', 'empty');
    // a text that says so
    return value === 'NULL' || value === 'empty' ? `'${value}'` : value;
  });
}

/** `region EU, shop NULL`; empty without a key. */
export function keyName({ key: names }: RollupSettings, key: WindowRow['key']): string {
  return names.map((name, place) => `${name} ${keyValueText(key[place])}`).join(', ');
}

/** Who decided, and why; where nobody did, the policy. */
export function who(actor: string | null, reason: string | null, approver: string | null = null): Content {
  const names = [...new Set([actor, approver].filter(Boolean))].join(', approved by ');
  if (names === '') return reason ? reason : span('zero', 'policy');
  return reason ? `${names}: ${reason}` : names;
}
