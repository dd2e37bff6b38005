/** Builders for commands: help with examples, `--json`, and errors for unknown options. */
import { Command, type CommanderError } from 'commander';
import { StartFailure } from '../../platform/errors.ts';

/** Thrown for a wrong command line or setting. The exit code is 2. */
export class UsageFailure extends StartFailure {}

/** Thrown after help was printed. The exit code is 0. */
export class HelpShown extends Error {}

const helpCodes = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

const getCommandPath = (command: Command): string =>
  command.parent === null ? command.name() : `${getCommandPath(command.parent)} ${command.name()}`;

/** Turns commander's error into one line: "error: unknown option '--jsn'\n(Did you mean --json?)". */
const refuse = (command: Command, { code, message }: CommanderError): never => {
  if (helpCodes.has(code)) throw new HelpShown();
  const [first = '', ...more] = message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .split('\n');
  const hint = more.join(' ').replace(/^\(D/, ' (d');
  throw new UsageFailure(`${first}${hint}; see "${getCommandPath(command)} --help"`);
};

export type About = { summary: string; examples: readonly string[] };

const makeCommand = (name: string, { summary, examples }: About): Command => {
  const command = new Command(name);
  return command
    .description(summary)
    .summary(/^.*?(?=[.:](?: |$))/.exec(summary)?.[0] ?? summary)
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .configureOutput({ writeErr: (text) => process.stdout.write(text), outputError: () => undefined })
    .exitOverride((error) => refuse(command, error))
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`);
};

/** Makes a command that performs an action. */
export const action = (name: string, about: About): Command =>
  makeCommand(name, about).option('--json', 'print JSON, for programs');

/** Makes a command that only contains other commands; without one of them, it prints its help. */
export const group = (name: string, about: About, commands: readonly Command[]): Command => {
  const command = makeCommand(name, about);
  for (const subcommand of commands) command.addCommand(subcommand);
  return command;
};
