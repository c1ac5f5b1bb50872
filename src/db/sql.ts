/**
 * SQL lives in `sql/` as files that are valid SQL by themselves, written for one sample rollup. What differs from
 * rollup to rollup stands between comments and is replaced when the file is loaded:
 *
 *     select b./*:event_time*\/ordered_at/*.*\/              one value
 *     /*:each measure*\/ , /*:measure*\/revenue/*.*\/ /*:end*\/   a piece repeated for each item of a list
 *
 * A placeholder without a value, a value without a placeholder, a nested or unclosed one, and a placeholder left
 * over are errors at start-up: `loadStatement` runs before the first statement is sent.
 */
import { readFileSync } from 'node:fs';
import { type Sql, trustedSql } from './identifiers.ts';

/** What a file's placeholders stand for. Lists hold one set of values an item. */
export interface Bindings {
  readonly [name: string]: Sql | readonly Readonly<Record<string, Sql>>[];
}

const root = new URL('../../sql/', import.meta.url);
const eachPattern = /\/\*:each ([a-z_]+)\*\/([\s\S]*?)\/\*:end\*\//g;
const valuePattern = /\/\*:([a-z_]+)\*\/([\s\S]*?)\/\*\.\*\//g;
const anyPattern = new RegExp(`${eachPattern.source}|${valuePattern.source}`, 'g');
const dollarTag = /\$[a-z_]+\$/g;
const leftOver = /\/\*(:[^*]*|\.)\*\//;

/** As read; a process reads each file once. */
const templates = new Map<string, string>();

/** The text of `sql/<path>` with its placeholders as written. */
export function readTemplate(path: string): string {
  const known = templates.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(path, root), 'utf8');
  templates.set(path, text);
  return text;
}

/** Only the values that the template names, so that one set of bindings can serve many files. */
export function loadStatement(path: string, bindings: Bindings): Sql {
  return fill(readTemplate(path), bindings, `sql/${path}`);
}

/**
 * Replaces the placeholders of `template`. `source` names it in errors. Bindings that the template does not use are
 * passed over here; `unusedBindings` finds those that no template uses.
 */
export function fill(template: string, bindings: Bindings, source: string): Sql {
  const filled = fillOnce(template, bindings, source);
  // A name or an expression with a template's tag in it would end the body of a function.
  const taken = [...new Set(template.match(dollarTag))].filter(
    (tag) => filled.split(tag).length !== template.split(tag).length,
  );
  if (taken.length === 0) return trustedSql(filled);
  const others = taken.reduce((text, tag) => text.replaceAll(tag, () => freeTag(tag, filled)), template);
  return trustedSql(fillOnce(others, bindings, source));
}

function freeTag(tag: string, text: string): string {
  for (let number = 2; ; number++) {
    const other = `${tag.slice(0, -1)}_${number}$`;
    if (!text.includes(other)) return other;
  }
}

/** In one pass: what stands in a value is never taken for a placeholder. */
function fillOnce(template: string, bindings: Bindings, source: string): string {
  const rest = leftOver.exec(
    template.replace(eachPattern, (_, _list, body: string) => body).replace(valuePattern, ''),
  );
  const filled = template.replace(
    anyPattern,
    (whole: string, list: string | undefined, body: string | undefined) => {
      if (list === undefined || body === undefined) return fillValues(whole, bindings, source);
      const items = bindings[list];
      if (!Array.isArray(items)) throw new Error(`${source}: nothing is bound to the list "${list}"`);
      return items
        .map((item: Readonly<Record<string, Sql>>) => fillValues(body, { ...bindings, ...item }, source))
        .join('');
    },
  );
  if (rest) throw new Error(`${source}: the placeholder ${rest[0]} is left over`);
  return filled;
}

function fillValues(text: string, bindings: Bindings, source: string): string {
  return text.replace(valuePattern, (_, name: string, sample: string) => {
    if (sample.includes('/*:')) throw new Error(`${source}: a placeholder opens inside "${name}"`);
    const value = bindings[name];
    if (typeof value !== 'string') throw new Error(`${source}: nothing is bound to "${name}"`);
    return value;
  });
}

/** The names that a template uses: values and lists, those inside lists included. */
export function placeholdersOf(template: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, name] of template.matchAll(eachPattern)) names.add(name as string);
  const flat = template.replaceAll(/\/\*:(each [a-z_]+|end)\*\//g, '');
  for (const [, name] of flat.matchAll(valuePattern)) names.add(name as string);
  return names;
}

/** The template as plain SQL for its sample rollup: comments and all, ready to be parsed. */
export function sampleStatement(path: string): Sql {
  return trustedSql(
    readTemplate(path)
      .replace(eachPattern, (_, _list, body: string) => body)
      .replace(valuePattern, (_, _name, sample: string) => sample),
  );
}
