/** The part of `process.env` that is read. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Expansion {
  readonly text: string;
  /** The variables that the text came from, in order; empty: it was written as it stands. */
  readonly variables: readonly string[];
  /** What is wrong, and what to write. Never holds a value of a variable. */
  readonly wrong: readonly string[];
}

const reference = /\$\$\{|\$\{([^}]*)(\}?)/g;
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * Expands `${NAME}` and `${NAME:-default}` (the default serves where the variable is unset or empty); `$${` stands
 * for a literal `${`. A lone `$` stays as it is, since SQL expressions have use for it.
 */
export function expand(text: string, env: Environment): Expansion {
  const variables: string[] = [];
  const wrong: string[] = [];
  const expanded = text.replace(reference, (_whole, inner: string | undefined, close: string | undefined) => {
    if (inner === undefined) return '${';
    const match = form.exec(inner);
    if (match === null || close === '') {
      wrong.push(
        `has a \${ that names no variable; write \${NAME} or \${NAME:-default}, or $\${ for a literal \${`,
      );
      return '';
    }
    const [, name = '', fallback] = match;
    variables.push(name);
    const value = env[name];
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    wrong.push(
      `needs the environment variable ${name}, which is not set; set it, or write \${${name}:-default}`,
    );
    return '';
  });
  return { text: expanded, variables, wrong };
}
