import { type Document, isAlias, isMap, isScalar, isSeq, type Scalar } from 'yaml';
import { type Environment, expand } from './environment.ts';
import type { Faults } from './faults.ts';
import type { Path, Place, Places } from './place.ts';

/** More than any person writes; aliases of aliases would otherwise fill the memory. */
const mostNodes = 30_000;
const deepest = 20;

const databaseUrl = `\${DATABASE_URL}`;

/** From the nodes of a YAML document to plain values, and their places; see `readDocument`. */
export class Walk {
  readonly #document: Document;
  readonly #env: Environment;
  readonly #places: Places;
  readonly #placeOf: (offset: number) => Place;
  readonly #faults: Faults;
  #nodes = 0;

  constructor(
    document: Document,
    env: Environment,
    places: Places,
    placeOf: (offset: number) => Place,
    faults: Faults,
  ) {
    this.#document = document;
    this.#env = env;
    this.#places = places;
    this.#placeOf = placeOf;
    this.#faults = faults;
  }

  value(node: unknown, path: Path): unknown {
    if (++this.#nodes > mostNodes || path.length > deepest) {
      this.#faults.about([], 'an alias repeats itself without end; write the settings out');
      this.#faults.throwIfAny();
    }
    const target = isAlias(node) ? node.resolve(this.#document) : node;
    const range = (target as { range?: [number, number, number] | null } | undefined)?.range;
    if (range) this.#places.setValue(path, this.#placeOf(range[0]));
    if (isMap(target)) return this.#mapping(target.items, path);
    if (isSeq(target)) return target.items.map((item, index) => this.value(item, [...path, index]));
    return isScalar(target) ? this.#scalar(target, path) : undefined;
  }

  #mapping(pairs: readonly { key: unknown; value: unknown }[], path: Path): Record<string, unknown> {
    const mapping: Record<string, unknown> = Object.create(null);
    for (const { key, value } of pairs) {
      const name = isScalar(key)
        ? typeof key.value === 'string'
          ? key.value
          : (key.source ?? '')
        : undefined;
      if (name === undefined) {
        this.#faults.about(path, 'has a list or mapping for a name; write plain names before each colon');
        continue;
      }
      const range = (key as Scalar).range;
      if (range) this.#places.setKey([...path, name], this.#placeOf(range[0]));
      mapping[name] = this.value(value, [...path, name]);
    }
    return mapping;
  }

  #scalar(scalar: Scalar, path: Path): unknown {
    if (scalar.value === null) return scalar.source ? null : undefined;
    if (typeof scalar.value === 'boolean') return scalar.value;
    if (typeof scalar.value !== 'string') return scalar.source ?? String(scalar.value);
    // The one variable that may be missing: without it the setting counts as left out.
    if (path[0] === 'database' && path.length === 1 && scalar.value.trim() === databaseUrl) {
      this.#places.setVariables(path, ['DATABASE_URL']);
      return this.#env.DATABASE_URL || undefined;
    }
    const { text, variables, wrong } = expand(scalar.value, this.#env);
    if (variables.length > 0) this.#places.setVariables(path, variables);
    for (const problem of wrong) this.#faults.about(path, problem);
    if (wrong.length > 0) this.#faults.silence(path);
    // What a variable holds is read as if it stood in its place.
    if (variables.length > 0 && scalar.type === 'PLAIN' && /^(true|false)$/.test(text))
      return text === 'true';
    return text;
  }
}
