import { LineCounter, parseDocument } from 'yaml';
import type { Environment } from './environment.ts';
import type { Faults } from './faults.ts';
import type { Place, Places } from './place.ts';
import { Walk } from './walk.ts';

/**
 * Reads YAML 1.2 into mappings (without a prototype), lists, text, booleans and null; undefined for an empty file.
 * A number stays the text that was written, so that each field decides what it means (`1000.00` stays exact); an empty
 * value counts as left out; variables expand in text, and never in names. Fills `places`; tells `faults`. Throws the
 * `Failure` of the syntax faults, since nothing after one is to be trusted.
 */
export function readDocument(text: string, env: Environment, places: Places, faults: Faults): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'core' });
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // After a fault of form the parser stumbles on; what it then says is noise. A name that stands twice is no such fault.
  const all = [...document.errors, ...document.warnings];
  const form = all.find(({ code }) => code !== 'DUPLICATE_KEY');
  for (const fault of all.filter((one) => one === form || one.code === 'DUPLICATE_KEY')) {
    const place = placeOf(fault.pos[0]);
    faults.at(place, explain(fault.code, fault.message, text.split(/\r?\n/)[place.line - 1] ?? ''));
  }
  faults.throwIfAny();
  return new Walk(document, env, places, placeOf, faults).value(document.contents, []);
}

function explain(code: string, message: string, line: string): string {
  if (code === 'TAB_AS_INDENT') return 'a line is indented with a tab; write spaces';
  if (code === 'DUPLICATE_KEY') return 'a name stands twice in one mapping; write it once';
  if (code === 'MULTIPLE_DOCS') return 'a second document begins; write one document, without a second ---';
  if (code === 'TAG_RESOLVE_FAILED') return 'a value has a tag, which is not read here; write it without !';
  if (/alias/i.test(message)) {
    return 'a text that begins with * is taken for an alias; write it in quotes, as in "*/15 * * * *"';
  }
  if (/[{,[].*\$\{/.test(line)) {
    return `inside { } or [ ] the braces of a variable are taken for YAML's; write it in quotes, as in "\${NAME}"`;
  }
  // What follows a colon in the parser's message is a piece of the file, perhaps of a password.
  const said = (message.split('\n')[0] ?? '').replace(/:\s.*$/, '');
  return `not YAML: ${said.charAt(0).toLowerCase()}${said.slice(1)}; look at indentation, colons and quotes here`;
}
