// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables are part of the file
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSettings, readSettings } from '../../src/config/read-settings.ts';
import { Failure, formatFailure } from '../../src/failure.ts';
import { designExample } from './design-example.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'errata config '));
});
afterAll(() => rmSync(directory, { recursive: true }));

function failing(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.exitCode).toBe(2);
    return formatFailure(error).replaceAll(directory, 'DIR');
  }
  return 'no failure';
}

function written(content: string | Uint8Array): string {
  const path = join(directory, 'errata.yaml');
  writeFileSync(path, content);
  return path;
}

describe('the file', () => {
  it('is read, with or without a byte order mark, with any line ends', () => {
    const lines = `\ufeff${designExample.replaceAll('\n', '\r\n')}`;
    for (const text of [designExample, lines]) {
      const path = written(text);
      const settings = readSettings(path, {});
      expect(settings).toMatchObject({
        file: path,
        rollups: [{ name: 'daily_orders', position: { line: 4 } }],
      });
    }
  });

  it('is missing', () => {
    expect(failing(() => readSettings(join(directory, 'none.yaml'), {}))).toBe(`there is no file DIR/none.yaml
  hint:   run \`errata init\` to write a starting file, or name yours with --config`);
  });

  it('is a directory', () => {
    expect(failing(() => readSettings(`${directory}/`, {}))).toBe(`DIR/ is a directory, not a file
  hint:   name the file in it, such as DIR/errata.yaml`);
  });

  it.each([
    ['bytes of Latin 1', Uint8Array.from([0x61, 0x3a, 0x0a, 0xe9, 0x0a]), 2],
    ['UTF-16', Buffer.from('\ufeffa: b', 'utf16le'), 1],
    ['a byte of zero', Buffer.from('a: b\n\0'), 2],
  ])('is not UTF-8: %s', (_, bytes, line) => {
    expect(failing(() => readSettings(written(bytes), {}))).toBe(`DIR/errata.yaml is not UTF-8 text
  detail: line ${line} holds bytes that no UTF-8 text has
  hint:   save the file as UTF-8`);
  });

  it.each(['', '\n\n', '# nothing but this\n', '---\n', '~'])('is empty: %j', (text) => {
    expect(failing(() => readSettings(written(text), {}))).toBe(`DIR/errata.yaml is empty
  hint:   run \`errata init\` to write a starting file`);
  });
});

describe('what is not YAML', () => {
  it.each([
    ['just words', '1:1  is a single value; write a mapping with rollups'],
    ['- a\n- b\n', '1:1  is a list; write a mapping with rollups'],
    [
      'a: b: c\n',
      '1:4  not YAML: nested mappings are not allowed in compact mappings; look at indentation, colons and quotes here',
    ],
    ['a:\n\tb: c\n', '2:1  a line is indented with a tab; write spaces'],
    ['schema: a\nschema: b\n', '2:1  a name stands twice in one mapping; write it once'],
    [
      'rollups: {}\n---\nrollups: {}\n',
      '2:1  a second document begins; write one document, without a second ---',
    ],
    ['schema: !secret hunter2\n', '1:9  a value has a tag, which is not read here; write it without !'],
    [
      'cron: */15 * * * *\n',
      '1:12  a text that begins with * is taken for an alias; write it in quotes, as in "*/15 * * * *"',
    ],
    [
      'a: { b: ${NAME} }\n',
      '1:10  inside { } or [ ] the braces of a variable are taken for YAML\'s; write it in quotes, as in "${NAME}"',
    ],
    ['a: &a [*a]\n', '1:1  an alias repeats itself without end; write the settings out'],
    ['? [a]\n: b\nrollups: {}', '1:1  has a list or mapping for a name; write plain names before each colon'],
  ])('%j', (text, expected) => {
    const [, detail = ''] = failing(() => parseSettings(text, 'errata.yaml', {})).split('\n');
    expect(detail).toBe(`  detail: errata.yaml:${expected}`);
  });

  it('shows no piece of the file', () => {
    const text = 'database: "postgres://u:hunter2@h/d"x"hunter2"\n hunter2: {hunter2';
    expect(failing(() => parseSettings(text, 'errata.yaml', {}))).not.toContain('hunter2');
  });
});
