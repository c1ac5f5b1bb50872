export type Path = readonly (string | number)[];

/** Counted from 1, as editors do. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where each setting stands in the file, and which variables its text came from. */
export class Places {
  readonly #keys = new Map<string, Place>();
  readonly #values = new Map<string, Place>();
  readonly #variables = new Map<string, readonly string[]>();

  setKey(path: Path, place: Place): void {
    this.#keys.set(JSON.stringify(path), place);
  }

  setValue(path: Path, place: Place): void {
    this.#values.set(JSON.stringify(path), place);
  }

  setVariables(path: Path, names: readonly string[]): void {
    this.#variables.set(JSON.stringify(path), names);
  }

  variables(path: Path): readonly string[] {
    return this.#variables.get(JSON.stringify(path)) ?? [];
  }

  /** Of the value; of what is missing: the mapping that lacks it. */
  value(path: Path): Place {
    const place = this.#values.get(JSON.stringify(path));
    if (place !== undefined) return place;
    return path.length === 0 ? { line: 1, column: 1 } : this.value(path.slice(0, -1));
  }

  key(path: Path): Place {
    return this.#keys.get(JSON.stringify(path)) ?? this.value(path);
  }
}

/** `rollups.daily_orders.key[0]`; a name that is no plain word stands in quotes. */
export function formatPath(path: Path): string {
  return path
    .map((step, at) => {
      if (typeof step === 'number') return `[${step}]`;
      const word = /^[\w-]+$/.test(step) ? step : JSON.stringify(step);
      return at === 0 ? word : `.${word}`;
    })
    .join('');
}
