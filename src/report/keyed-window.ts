/** One window for one key, as reports name it. Instants and key values are text; null is the NULL key. */
export interface KeyedWindow {
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
  readonly key: Readonly<Record<string, string | null>>;
}

/** `region EU, currency EUR`; `NULL` and `''` are told apart, and from a text that says so. Empty without a key. */
export function keyText(key: KeyedWindow['key'], order: readonly string[] = Object.keys(key)): string {
  return order.map((name) => `${name} ${keyValueText(key[name])}`).join(', ');
}

/** `EU`; `NULL` for the NULL key, `''` for empty text, and quotes around a text that would be read as one of them. */
export function keyValueText(value: string | null | undefined): string {
  if (value === null || value === undefined) return 'NULL';
  return value === '' || value === 'NULL' || /['"\s,]/.test(value)
    ? `'${value.replaceAll("'", "''")}'`
    : value;
}
