import { Failure } from '../failure.ts';
import { formatPath, type Path, type Place, type Places } from './place.ts';

interface Fault {
  readonly place: Place;
  readonly text: string;
}

/** Settings whose text may be a secret, also where it stands in the file itself. */
const secrets = new Set(['database', 'notices.webhook', 'notices.secret']);

/** Collects every fault of the file, so that one run shows them all. */
export class Faults {
  readonly #file: string;
  readonly #places: Places;
  readonly #faults: Fault[] = [];
  readonly #silenced = new Set<string>();

  constructor(file: string, places: Places) {
    this.#file = file;
    this.#places = places;
  }

  /** A fault of the file's syntax. */
  at(place: Place, wrong: string): void {
    this.#faults.push({ place, text: wrong });
  }

  /** A fault of the setting at `path`, or of its absence. */
  about(path: Path, wrong: string): void {
    if (!this.#silenced.has(JSON.stringify(path))) this.#add(this.#places.value(path), path, wrong);
  }

  /** A fault of a name in the file. */
  aboutKey(path: Path, wrong: string): void {
    this.#add(this.#places.key(path), path, wrong);
  }

  /** A fault of a text, which is shown, unless a variable or a URL could put a secret into it. */
  aboutText(path: Path, text: string, wrong: string): void {
    this.about(path, `${this.#shown(path, text)} ${wrong}`);
  }

  /** The value at `path` has had its fault; what follows from it is not said. */
  silence(path: Path): void {
    this.#silenced.add(JSON.stringify(path));
  }

  /** Throws one `Failure` (exit 2) with all faults in the order of the file, if there are any. */
  throwIfAny(): void {
    if (this.#faults.length === 0) return;
    throw unusable(this.#file, this.#faults);
  }

  #shown(path: Path, text: string): string {
    const variables = this.#places.variables(path).map((name) => `\${${name}}`);
    if (variables.length > 0) return `the value of ${variables.join(' and ')}`;
    if (secrets.has(path.join('.'))) return 'the value';
    return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
  }

  #add(place: Place, path: Path, wrong: string): void {
    this.#faults.push({ place, text: path.length === 0 ? wrong : `${formatPath(path)}: ${wrong}` });
  }
}

/** The one `Failure` for a file that cannot be used. */
export function unusable(file: string, faults: readonly Fault[]): Failure {
  const ordered = faults.toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
  const count = ordered.length === 1 ? 'a fault' : `${ordered.length} faults`;
  return new Failure(`${file} has ${count}`, {
    detail: ordered.map(({ place, text }) => `${file}:${place.line}:${place.column}  ${text}`).join('\n'),
    hint: 'mend the file and run `errata check`',
    exitCode: 2,
  });
}
