/** pino's JSON lines on stderr, written at once, so that a killed run has said all it had to say. */
import { destination, type Logger, pino } from 'pino';
import type { Environment } from '../config/environment.ts';
import { Failure } from '../failure.ts';
import { failureData } from './failure-text.ts';
import { hideSecrets } from './secrets.ts';

export function createLogger(isOn: boolean, environment: Environment): Logger {
  const stderr = destination({ dest: 2, sync: true });
  // A closed pipe is no reason to stop a run.
  stderr.on('error', () => {});
  return pino(
    {
      level: isOn ? levelOf(environment.ERRATA_LOG_LEVEL) : 'silent',
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => serializeError(error, environment) },
    },
    stderr,
  );
}

/** A level that pino does not know would end the run. */
function levelOf(asked: string | undefined): string {
  return asked !== undefined && asked in pino.levels.values ? asked : 'info';
}

/**
 * What tells of an error, and no more: the error of an idle client carries its client with it, 3.5 kB of buffers and
 * settings, the password among them.
 */
export function serializeError(error: unknown, environment: Environment): Record<string, unknown> {
  if (error instanceof Failure) return { ...failureData(error, environment) };
  if (!(error instanceof Error)) return { message: hideSecrets(String(error), environment) };
  const members = ['code', 'detail', 'hint', 'where', 'schema', 'table', 'column', 'constraint', 'routine'];
  const known = Object.fromEntries(
    members.flatMap((member) => {
      const value = (error as unknown as Record<string, unknown>)[member];
      return typeof value === 'string' ? [[member, hideSecrets(value, environment)]] : [];
    }),
  );
  return { message: hideSecrets(error.message, environment), ...known };
}
