/** What every verb is given: the settings, the database, and the ways to speak. Nothing is read before it is asked for. */
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Environment } from '../config/environment.ts';
import { readSettings } from '../config/read-settings.ts';
import type { Settings } from '../config/settings.ts';
import { type DatabaseChoice, type OpenDatabase, openDatabase } from './database.ts';
import type { Interruption } from './interruption.ts';

export interface Context {
  /** As `--config` or ERRATA_CONFIG names it, else `errata.yaml`; how messages name it. */
  readonly configFile: string;
  /** The same file as an absolute path. */
  readonly configPath: string;
  readonly json: boolean;
  readonly environment: Environment;
  readonly directory: string;
  /** Whether stderr is a terminal: then progress is shown, not logged. */
  readonly isTerminal: boolean;
  readonly logger: Logger;
  /** Ended by SIGINT or SIGTERM: start nothing more. Statements under way are cancelled by then. */
  readonly signal: AbortSignal;
  /** For a verb that serves: the first SIGINT or SIGTERM then only ends this signal, and the second ends `signal`. */
  stopFirst(): AbortSignal;
  /** Read once. @throws Failure, exit code 2, with every fault of the file. */
  settings(): Settings;
  /**
   * Connects, checks the version, and closes when the verb is over. Without `choice`: what the settings say.
   * @throws Failure if there is no database (1), it refuses us (2), or it is too old (2).
   */
  open(choice?: DatabaseChoice): Promise<OpenDatabase>;
  /** A line for a person, on stderr; a log line where stderr carries JSON lines. */
  say(text: string): void;
}

export interface ContextParts {
  readonly configFile: string;
  readonly json: boolean;
  readonly environment: Environment;
  readonly directory: string;
  readonly isTerminal: boolean;
  readonly logger: Logger;
  readonly interruption: Interruption;
  readonly say: (text: string) => void;
}

/** @returns the context, and what closes everything that was opened through it. */
export function createContext(parts: ContextParts): { context: Context; closeAll(): Promise<void> } {
  const { interruption, ...rest } = parts;
  const opened: OpenDatabase[] = [];
  let read: Settings | undefined;
  const configPath = resolve(parts.directory, parts.configFile);
  const context: Context = {
    ...rest,
    configPath,
    signal: interruption.signal,
    stopFirst: () => interruption.stopFirst(),
    settings: () => {
      read ??= readSettings(parts.configFile, parts.environment);
      return read;
    },
    open: async (choice) => {
      const database = await openDatabase(choice ?? context.settings(), context, interruption);
      opened.push(database);
      return database;
    },
  };
  return {
    context,
    closeAll: async () => {
      for (const database of opened) await database.close();
    },
  };
}
