/** The keys that a window is known by, so that a person who names too little can be asked for one. */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { amount, counted } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import { windowText } from '../../output/window-text.ts';
import { type KeyedWindow, keyValueText } from '../keyed-window.ts';
import { shellWord } from '../shell.ts';
import type { Then } from '../then.ts';
import type { Window } from '../window-of.ts';

export interface KnownKey {
  readonly key: KeyedWindow['key'];
  /** The latest; null where nothing is published. */
  readonly version: number | null;
  /** Values of the latest version, else of an open window as bronze has it now. */
  readonly measures: Readonly<Record<string, string | null>>;
  readonly is_void: boolean;
}

const keysShown = 50;

/** @param isOpen reads the keys from bronze too: nothing is published of an open window */
export async function readKeys(
  transaction: ControlTransaction,
  rollup: Rollup,
  window: Window,
  key: KeyedWindow['key'],
  isOpen: boolean,
  then?: Then,
): Promise<KnownKey[]> {
  const parameters = {
    window_start: window.window_start,
    window_end: window.window_end,
    key: JSON.stringify(key),
    at_most: keysShown + 1,
  };
  const bindings = then?.bindings ?? bindingsOf(rollup);
  const { rows } = isOpen
    ? await execute<KnownKey>(transaction, prepare('report/open_keys.sql', bindings), parameters)
    : await execute<KnownKey>(transaction, prepare('report/keys_of_window.sql', bindings), {
        ...parameters,
        known_at: then?.known.at ?? null,
      });
  return rows;
}

export function keysText(rollup: Rollup, window: Window, known: readonly KnownKey[], verb: string): string {
  const keys = rollup.keys.map(({ name }) => name);
  const measures = rollup.measures.map(({ name }) => name);
  const rows = known
    .slice(0, keysShown)
    .map(({ key, version, measures: values, is_void: isVoid }) => [
      ...keys.map((name) => keyValueText(key[name])),
      version === null ? '–' : String(version),
      ...measures.map((name) => (isVoid ? 'void' : amount(values[name]))),
    ]);
  const many = known.length > keysShown ? `more than ${keysShown} keys` : counted(known.length, 'key');
  const [first] = known;
  const example = keys.map((name) => shellWord(`${name}=${keyValueText(first?.key[name])}`)).join(' ');
  return [
    `The window ${windowText(window)} has ${many}; say which one:`,
    ...table(
      [
        ...keys.map((title) => ({ title })),
        { title: 'version', isNumber: true },
        ...measures.map((title) => ({ title, isNumber: true })),
      ],
      rows,
    ).map((line) => `  ${line}`),
    `  errata ${verb} ${rollup.settings.name} ${window.local_date ?? window.window_start.replace(' ', 'T')} ${example}`,
  ].join('\n');
}

/** Sessions of several keys hold one instant. */
export function sessionsText(
  rollup: Rollup,
  instant: string,
  sessions: readonly KeyedWindow[],
  verb: string,
): string {
  const keys = rollup.keys.map(({ name }) => name);
  const [first] = sessions;
  const example = keys.map((name) => shellWord(`${name}=${keyValueText(first?.key[name])}`)).join(' ');
  return [
    `${instant} lies in sessions of ${sessions.length > keysShown ? `more than ${keysShown}` : 'several'} keys; say which one:`,
    ...table(
      [...keys.map((title) => ({ title })), { title: 'session' }],
      sessions
        .slice(0, keysShown)
        .map((session) => [...keys.map((name) => keyValueText(session.key[name])), windowText(session)]),
    ).map((line) => `  ${line}`),
    `  errata ${verb} ${rollup.settings.name} ${instant} ${example}`,
  ].join('\n');
}
