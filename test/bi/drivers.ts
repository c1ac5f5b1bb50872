/** The drivers of the tools, each in a process and a folder of its own: their dependencies are not Errata's. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const tools = {
  cube: { title: 'Cube', driver: '@cubejs-backend/postgres-driver' },
  evidence: { title: 'Evidence', driver: '@evidence-dev/postgres' },
} as const;
export type Tool = keyof typeof tools;

export interface Column {
  readonly name: string;
  readonly type: string;
}
/** Columns and rows, or an error. */
export interface Answer {
  readonly columns?: readonly Column[];
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  /** What Cube's compiler made of a model. */
  readonly sql?: string;
  readonly error?: string;
}
export interface Read {
  /** By schema and table; only Cube asks for them by itself. */
  readonly tables?: Readonly<Record<string, Readonly<Record<string, readonly Column[]>>>>;
  readonly answers: Readonly<Record<string, Answer>>;
}
export interface Asked {
  readonly queries: Readonly<Record<string, string>>;
  /** Cube: files of a model, and queries of its own over them. */
  readonly model?: Readonly<Record<string, string>>;
  readonly asked?: Readonly<Record<string, object>>;
  /** The time zone of the process that reads, which is the tool's: not that of the database. */
  readonly zone?: string;
}

const folderOf = (tool: Tool) => fileURLToPath(new URL(`${tool}/`, import.meta.url));

export function isInstalled(tool: Tool): boolean {
  const isThere = existsSync(`${folderOf(tool)}node_modules/${tools[tool].driver}`);
  if (!isThere)
    console.warn(
      `The driver of ${tools[tool].title} is not installed (npm ci --prefix test/bi/${tool}): its tests are skipped.`,
    );
  return isThere;
}

/** @param url with the login that the tool has. */
export async function readBy(tool: Tool, url: string, { zone = 'UTC', ...asked }: Asked): Promise<Read> {
  const { hostname, port, pathname, username, password } = new URL(url);
  const child = spawn(process.execPath, ['read.cjs'], {
    cwd: folderOf(tool),
    // Nothing of ours: Cube reads its settings from the environment too.
    env: { PATH: process.env.PATH, TZ: zone },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(
    JSON.stringify({
      host: hostname,
      port: Number(port || 5432),
      database: decodeURIComponent(pathname.slice(1)),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      ...asked,
    }),
  );
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`the driver of ${tools[tool].title} ended with ${code}: ${errors}`);
  return JSON.parse(out);
}
