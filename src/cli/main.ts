/** The program `gantry`: finds the command, and turns how it ended into a line and an exit code. */
import { Failure, StartFailure } from '../errors.ts';
import { version } from '../version.ts';
import { HelpShown, UsageFailure, group } from './command.ts';

/** Each loads what it needs itself: a start does not wait for the other commands. */
const commands = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  adopt: async () => (await import('./adopt.ts')).adoptCommand(),
  gitd: async () => (await import('./gitd.ts')).gitdCommand(),
  runner: async () => (await import('./runner.ts')).runnerCommand(),
  admin: async () => (await import('./admin.ts')).adminCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  version: async () => (await import('./version.ts')).versionCommand(),
};

/** The command that is asked for; all of them, for help or for an error, where it is none. */
const wantedCommands = async (name: string | undefined) => {
  const wanted = Object.entries(commands).filter(([command]) => command === name);
  return await Promise.all((wanted.length > 0 ? wanted : Object.entries(commands)).map(([, make]) => make()));
};

const program = async () => {
  const about = {
    summary: 'Gantry: self-hosted code hosting that speaks the v4 HTTP/JSON API.',
    examples: [
      'gantry serve                        start the service on http://127.0.0.1:8080',
      'gantry admin user create --help     how to add a user',
      'gantry doctor                       find out what is wrong',
    ],
  };
  const made = await wantedCommands(process.argv[2]);
  return group('gantry', about, made).version(version, '-V, --version', 'print the version');
};

/** `{"email": ["has already been taken"]}` -> `email has already been taken`; a status goes without saying. */
const reasonOf = ({ body }: Failure): string => {
  const { message } = (body ?? {}) as { message?: string | { [property: string]: string[] } };
  if (typeof message !== 'object') return message?.replace(/^\d{3} (?:\w+ - )?/, '') ?? 'refused';
  return Object.entries(message)
    .flatMap(([property, problems]) => problems.map((problem) => `${property} ${problem}`))
    .join('; ');
};

/** What went wrong in one line where it was foreseen, else with its stack. */
const tell = (error: unknown): void => {
  const text =
    error instanceof StartFailure
      ? `gantry: ${error.message}`
      : error instanceof Failure
        ? `gantry: ${reasonOf(error)}`
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
  process.stderr.write(`${text}\n`);
};

const run = async (): Promise<number> => {
  try {
    await (await program()).parseAsync(process.argv);
    return 0;
  } catch (error) {
    if (error instanceof HelpShown) return 0;
    tell(error);
    return error instanceof UsageFailure ? 2 : 1;
  }
};

// What this program creates is for its owner alone.
process.umask(0o077);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the output has read enough: `gantry admin user list | head`.
  if (error.code === 'EPIPE') process.exit(0);
  tell(new StartFailure(`the output cannot be written (${error.message})`));
  process.exit(1);
});
const code = await run();
if (code !== 0) process.exitCode = code;
