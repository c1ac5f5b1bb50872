// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are the subject
import { expect, it } from 'vitest';
import { expand } from '../../src/config/environment.ts';

const env = { NAME: 'value', EMPTY: '', NESTED: '${NAME}' };

it.each([
  ['plain $ and $1', 'plain $ and $1'],
  ['${NAME}', 'value'],
  ['a${NAME}b${NAME}', 'avaluebvalue'],
  ['${MISSING:-default: x}', 'default: x'],
  ['${EMPTY:-default}', 'default'],
  ['${EMPTY}', ''],
  ['${MISSING:-}', ''],
  ['$${NAME}', '${NAME}'],
  ['${NESTED}', '${NAME}'],
])('%s', (text, expected) => {
  expect(expand(text, env)).toMatchObject({ text: expected, wrong: [] });
});

it('names what is not set, and what is no reference', () => {
  expect(expand('${A}-${B}', env).wrong).toEqual([
    'needs the environment variable A, which is not set; set it, or write ${A:-default}',
    'needs the environment variable B, which is not set; set it, or write ${B:-default}',
  ]);
  for (const text of ['${', '${NAME', '${}', '${1X}', '${NAME-x}', '${NAME:=x}']) {
    expect(expand(text, env).wrong).toEqual([
      'has a ${ that names no variable; write ${NAME} or ${NAME:-default}, or $${ for a literal ${',
    ]);
  }
});
