import { readFileSync } from 'node:fs';
import { Failure } from '../failure.ts';

/** The text of the settings file. Throws a `Failure` (exit 2) where it is missing, a directory, unreadable or not UTF-8. */
export function readSource(path: string): string {
  const bytes = readBytes(path);
  try {
    // A byte order mark is left out.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
  }
  throw new Failure(`${path} is not UTF-8 text`, {
    detail: `line ${firstBadLine(bytes)} holds bytes that no UTF-8 text has`,
    hint: 'save the file as UTF-8',
    exitCode: 2,
  });
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const init = 'run `errata init` to write a starting file, or name yours with --config';
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new Failure(`there is no file ${path}`, { hint: init, exitCode: 2, cause });
    }
    if (code === 'EISDIR') {
      throw new Failure(`${path} is a directory, not a file`, {
        hint: `name the file in it, such as ${path.replace(/\/+$/, '')}/errata.yaml`,
        exitCode: 2,
        cause,
      });
    }
    throw new Failure(`${path} cannot be read`, {
      detail: (cause as Error).message,
      hint: 'let the account that runs Errata read the file',
      exitCode: 2,
      cause,
    });
  }
}

function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, from);
    const part = bytes.subarray(from, end === -1 ? bytes.length : end);
    const text = part.toString('utf8');
    if (text.includes('\0') || !Buffer.from(text, 'utf8').equals(part)) return line;
    if (end === -1) break;
    from = end + 1;
  }
  return line;
}
