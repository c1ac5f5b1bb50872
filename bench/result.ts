/** What the bench prints, and writes into `bench/README.md`. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Of each row and column what each round took. */
export type Figures = Map<string, Map<string, number[]>>;

export interface About {
  readonly size: string;
  readonly rows: number;
  readonly keys: number;
  readonly rounds: number;
  readonly rowsADay: number;
  readonly machine: string;
}

export function resultText(figures: Figures, about: About): string {
  const columns = [...new Set([...figures.values()].flatMap((row) => [...row.keys()]))];
  const whole = figures.get('Errata, the whole run');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const number = (value: number) => Math.round(value).toLocaleString('en');
  const cell = (name: string, row: ReadonlyMap<string, number[]>, column: string) => {
    const value = median(row.get(column) ?? []);
    const ratio = value / median(whole?.get(column) ?? []);
    return name.startsWith('Errata') ? number(value) : `${number(value)} (${ratio.toFixed(1)})`;
  };
  return [
    `${number(about.rows)} rows of 30 days and ${number(about.keys)} keys, each round a new day of ${number(about.rowsADay)} rows.\n`,
    `Medians of ${about.rounds} rounds, milliseconds; in brackets: times Errata's whole run. ${about.machine}.\n\n`,
    line(['', ...columns]),
    line(['---', ...columns.map(() => '---:')]),
    ...[...figures].map(([name, row]) => line([name, ...columns.map((column) => cell(name, row, column))])),
  ].join('');
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] as number)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Between the marks of this name, under this heading where they are not there yet. */
export function writeReadme(mark: string, heading: string, text: string): void {
  const file = new URL('README.md', import.meta.url);
  const [begin, end] = [`<!-- ${mark} -->\n`, `<!-- end ${mark} -->\n`];
  const page = readFileSync(file, 'utf8');
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  const block = `${begin}\n${text}\n${end}`;
  const next =
    from < 0
      ? `${page}\n## ${heading}\n\n${block}`
      : page.slice(0, from) + block + page.slice(to + end.length);
  writeFileSync(file, next);
}
