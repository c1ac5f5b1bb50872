/** The command line: commander reads it, one verb does the work, and one exit code comes back (`commands/exit-code.ts`). */
import { readFileSync } from 'node:fs';
import { Argument, Command, CommanderError, Option } from 'commander';
import { createContext } from './cli/context.ts';
import { exitCodeHelp } from './cli/exit-code.ts';
import { Interruption } from './cli/interruption.ts';
import type { Verb } from './cli/verb.ts';
import { verbs } from './cli/verbs.ts';
import { Failure } from './failure.ts';
import { databaseFailure } from './output/database-failure.ts';
import { defect, failureData, failureText } from './output/failure-text.ts';
import { createLogger } from './output/log.ts';
import { tolerateClosedPipes, writeLine } from './output/streams.ts';

const environment = process.env;
const interruption = new Interruption();

tolerateClosedPipes();
interruption.listen();
process.exit(await main(process.argv));

async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = programOf(async (verb, args, options, globals) => {
    exitCode = await perform(verb, args, options, globals);
  });
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const failure = error instanceof CommanderError ? usageFailure(error, argv) : defect(error);
    return await printFailure(failure, argv.includes('--json'));
  }
}

interface Globals {
  readonly config: string;
  readonly json?: boolean;
}

type Perform = (verb: Verb, args: readonly string[], options: object, globals: Globals) => Promise<void>;

function programOf(perform: Perform): Command {
  const program = new Command('errata')
    .description('Publishes corrections to numbers that have already shipped, and proves them.')
    .version(packageVersion())
    .addOption(new Option('--config <FILE>', 'the settings').env('ERRATA_CONFIG').default('errata.yaml'))
    .option('--json', 'print one line of JSON on stdout')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {} })
    .showSuggestionAfterError(true)
    .addHelpText('after', `\n${exitCodeHelp([0, 1, 2, 3, 4])}`)
    // Before the subcommands: they inherit it.
    .exitOverride();
  for (const verb of verbs) {
    const command = program.command(verb.name).summary(verb.summary).description(verb.summary);
    for (const { name, description } of verb.arguments) command.addArgument(new Argument(name, description));
    for (const { flags, description } of verb.options) command.option(flags, description);
    command.addHelpText('after', `\n${verb.help}`);
    command.action(() => perform(verb, command.args, command.opts(), program.opts<Globals>()));
  }
  return program;
}

async function perform(
  verb: Verb,
  args: readonly string[],
  options: object,
  globals: Globals,
): Promise<number> {
  const json = globals.json === true;
  const isTerminal = process.stderr.isTTY === true;
  const logger = createLogger(verb.logs === true && !isTerminal, environment);
  const { context, closeAll } = createContext({
    configFile: globals.config,
    json,
    environment,
    directory: process.cwd(),
    isTerminal,
    logger,
    interruption,
    say: (text) => {
      if (logger.level === 'silent') process.stderr.write(`${text}\n`);
      else logger.info(text);
    },
  });
  try {
    const outcome = await verb.execute(context, args, options);
    const text = json ? JSON.stringify(outcome.data) : outcome.text;
    if (text !== '') await writeLine(process.stdout, text);
    return interruption.exitCode ?? outcome.exitCode;
  } catch (error) {
    if (interruption.exitCode !== undefined) {
      await writeLine(process.stderr, 'interrupted: what was under way is rolled back; nothing is half done');
      return interruption.exitCode;
    }
    return await printFailure(databaseFailure(error) ?? defect(error), json);
  } finally {
    await closeAll();
  }
}

async function printFailure(failure: Failure, json: boolean): Promise<number> {
  await writeLine(process.stderr, failureText(failure, environment));
  if (json) await writeLine(process.stdout, JSON.stringify({ error: failureData(failure, environment) }));
  return failure.exitCode;
}

/** `error: unknown option '--boud'\n(Did you mean --bound?)`, in the form of all failures. */
function usageFailure(error: CommanderError, argv: readonly string[]): Failure {
  const [fact = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const verb = verbs.find(({ name }) => argv.slice(2).includes(name));
  const isHelp = error.code === 'commander.help';
  return new Failure(isHelp ? 'no verb is given' : fact, {
    detail: rest.join('\n').trim() || undefined,
    hint: verb ? `run \`errata ${verb.name} --help\`` : 'run `errata --help`',
    exitCode: 2,
  });
}

function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
