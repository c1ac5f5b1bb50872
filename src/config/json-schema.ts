import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { fileShape } from './section/file.ts';

/** The published schema, as an absolute path; it lies beside `src` and beside `dist`. */
export const schemaFile = fileURLToPath(new URL('../../schema/errata.schema.json', import.meta.url));

/**
 * The JSON Schema of `errata.yaml` for editors, in Draft 7, which the YAML language server reads
 * best. It knows the form; what lies between settings is left to `readSettings`.
 */
export function jsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(fileShape, { target: 'draft-7', io: 'input' });
  const head = { $schema, title: 'errata.yaml', description: 'The settings of Errata.' };
  return { ...head, ...schema };
}

/** Whether the published file says the same. */
export function schemaIsCurrent(): boolean {
  return isDeepStrictEqual(
    JSON.parse(readFileSync(schemaFile, 'utf8')),
    JSON.parse(JSON.stringify(jsonSchema())),
  );
}

// node src/config/json-schema.ts
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(schemaFile, JSON.stringify(jsonSchema()));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  execFileSync(process.execPath, [biome, 'format', '--write', schemaFile], { stdio: 'inherit' });
}
