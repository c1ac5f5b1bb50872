/** The Dockerfile, read; and its steps, taken in a directory in place of a container engine. */
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, delimiter, join, matchesGlob, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const checkout = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');

export interface Step {
  readonly instruction: string;
  readonly text: string;
}
export interface Stage {
  readonly base: string;
  readonly name?: string | undefined;
  readonly steps: readonly Step[];
}

export function readStages(): Stage[] {
  const stages: { base: string; name?: string | undefined; steps: Step[] }[] = [];
  const lines = read('Dockerfile')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) {
    const [, instruction = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    const [base = '', , name] = text.split(' ');
    if (instruction === 'FROM') stages.push({ base, name, steps: [] });
    else stages.at(-1)?.steps.push({ instruction, text });
  }
  return stages;
}

/** What is after the last `CMD`, as the words of the exec form. @throws where it has another form. */
export function wordsOf(stage: Stage, instruction: string): string[] {
  const text = stage.steps.findLast((step) => step.instruction === instruction)?.text ?? '';
  return JSON.parse(text.replace(/^--.* CMD /, ''));
}

/** Of an image's user, where this process may choose one: so that nothing of root's is needed. */
export const user = process.getuid?.() === 0 ? { uid: 10001, gid: 10001 } : {};

/**
 * Each stage in a directory below `place`: its RUN by this machine's Node and npm, as the image's user. The registry must be
 * there. @returns the directory that is / of the last stage.
 */
export async function build(place: string): Promise<string> {
  chmodSync(place, 0o755);
  const [tools, home] = [join(place, 'tools'), join(place, 'home')];
  mkdirSync(tools);
  mkdirSync(home);
  // Its own may lie where only root can read.
  copyFileSync(process.execPath, join(tools, 'node'));
  await giveAway(home);
  const environment = { ...process.env, PATH: [tools, process.env.PATH].join(delimiter), HOME: home };
  const roots = new Map<string, string>();
  let root = '';
  for (const [number, { name = '', steps }] of readStages().entries()) {
    root = join(place, `stage-${number}`);
    roots.set(name, root);
    let directory = root;
    for (const { instruction, text } of steps) {
      const words = text.split(' ');
      if (instruction === 'WORKDIR') {
        directory = join(root, text);
        mkdirSync(directory, { recursive: true });
      } else if (instruction === 'COPY') {
        const stage = /^--from=(.*)/.exec(words[0] as string)?.[1];
        const target = resolve(directory, words.pop() as string);
        for (const word of stage === undefined ? words : words.slice(1))
          copy(
            join(stage === undefined ? checkout : (roots.get(stage) as string), word),
            target,
            stage === undefined,
          );
      } else if (instruction === 'RUN') {
        await giveAway(root);
        await promisify(execFile)('/bin/sh', ['-c', text], { cwd: directory, env: environment, ...user });
      }
    }
  }
  return root;
}

async function giveAway(path: string): Promise<void> {
  if (user.uid !== undefined) await promisify(execFile)('chown', ['-hR', `${user.uid}:${user.gid}`, path]);
}

/** A file into a directory, or the content of a directory into another, as COPY does. */
function copy(source: string, target: string, isContext: boolean): void {
  const patterns = read('.dockerignore').split('\n').filter(Boolean);
  const isIgnored = (path: string) =>
    path
      .split('/')
      .some((_, end, parts) =>
        patterns.some((pattern) => matchesGlob(parts.slice(0, end + 1).join('/'), pattern)),
      );
  const isFile = lstatSync(source).isFile();
  cpSync(source, isFile ? join(target, basename(source)) : target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !isContext || !isIgnored(relative(checkout, path)),
  });
}
