/** What a mode that only repeats itself may be asked: `[--rounds N] [--write]`. */
import { parseArgs } from 'node:util';

export function readOptions(mode: string, rounds: number): { rounds: number; write: boolean } {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      rounds: { type: 'string', default: String(rounds) },
      write: { type: 'boolean', default: false },
    },
  });
  const asked = Number(values.rounds);
  if (!Number.isSafeInteger(asked) || asked < 1)
    throw new Error(`usage: npm run bench -- ${mode} [--rounds ${rounds}] [--write]`);
  return { rounds: asked, write: values.write };
}
