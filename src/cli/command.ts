/** What every command is made of: its help with examples, `--json`, and how it refuses what it does not know. */
import { Command, type CommanderError } from 'commander';
import { StartFailure } from '../errors.ts';

/** The command line or a setting is wrong: exit code 2. */
export class UsageFailure extends StartFailure {}

/** Help was asked for and printed: nothing is left to do. */
export class HelpShown extends Error {}

const asked = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/** "error: unknown option '--jsn'\n(Did you mean --json?)" -> one line that says where to look. */
const refuse = (command: Command, { code, message }: CommanderError): never => {
  if (asked.has(code)) throw new HelpShown();
  const [first = '', ...more] = message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .split('\n');
  const hint = more.join(' ').replace(/^\(D/, ' (d');
  throw new UsageFailure(`${first}${hint}; "${pathOf(command)} --help" tells more`);
};

export type About = { summary: string; examples: readonly string[] };

const dressed = (name: string, { summary, examples }: About): Command => {
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

/** A command that does something. */
export const action = (name: string, about: About): Command =>
  dressed(name, about).option('--json', 'print JSON, for programs');

/** A command that only leads to others; alone, it prints its help. */
export const group = (name: string, about: About, commands: readonly Command[]): Command => {
  const command = dressed(name, about);
  for (const one of commands) command.addCommand(one);
  return command;
};

/** The result of a command: JSON in one line, or text for a person. */
export const print = (options: { json?: boolean }, value: unknown, text: string): void => {
  process.stdout.write(`${options.json === true ? JSON.stringify(value) : text}\n`);
};

/** Rows as columns of equal width. */
export const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
};
