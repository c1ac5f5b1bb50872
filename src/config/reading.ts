/**
 * What a reader of one scalar gives back: its value, or what is wrong with the text.
 *
 * `wrong` continues the sentence `"the text" …` and says what to write: `is not a duration; write …`. It never repeats
 * the text itself, because the text may have come out of an environment variable that holds a secret.
 */
export type Reading<T> = { readonly value: T } | { readonly wrong: string };
