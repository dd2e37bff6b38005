/** The program `gantry`: runs the command and turns its outcome into a message and an exit code. */
import { Failure, StartFailure } from '../../platform/errors.ts';
import { version } from '../../platform/version.ts';
import { HelpShown, UsageFailure, group } from './command_builders.ts';

/** Loads each command on demand, so that a start does not load the others. */
const commands = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  storage: async () => (await import('./storage/storage.ts')).storageCommand(),
  backup: async () => (await import('./backup/backup.ts')).backupCommand(),
  adopt: async () => (await import('./adopt.ts')).adoptCommand(),
  gitd: async () => (await import('./gitd.ts')).gitdCommand(),
  runner: async () => (await import('./runner.ts')).runnerCommand(),
  admin: async () => (await import('./admin/admin.ts')).adminCommand(),
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  version: async () => (await import('./version.ts')).versionCommand(),
};

/** Returns the named command, or all commands where the name is unknown, for help and errors. */
const loadCommands = async (name: string | undefined) => {
  const matching = Object.entries(commands).filter(([command]) => command === name);
  return await Promise.all(
    (matching.length > 0 ? matching : Object.entries(commands)).map(([, make]) => make()),
  );
};

const program = async () => {
  const about = {
    summary: 'Gantry: self-hosted code hosting that speaks the v4 HTTP/JSON API.',
    examples: [
      'gantry serve                        start the service on http://127.0.0.1:8080',
      'gantry admin user create --help     how to add a user',
      'gantry doctor                       find problems and say how to fix them',
    ],
  };
  const made = await loadCommands(process.argv[2]);
  return group('gantry', about, made).version(version, '-V, --version', 'print the version');
};

/** Formats a failure: `{"email": ["has already been taken"]}` -> `email has already been taken`. Omits the status. */
const describeFailure = ({ body }: Failure): string => {
  const { message } = (body ?? {}) as { message?: string | { [property: string]: string[] } };
  if (typeof message !== 'object') return message?.replace(/^\d{3} (?:\w+ - )?/, '') ?? 'refused';
  return Object.entries(message)
    .flatMap(([property, problems]) => problems.map((problem) => `${property} ${problem}`))
    .join('; ');
};

/** Prints an expected error as one line, an unexpected one with its stack. */
const printError = (error: unknown): void => {
  const text =
    error instanceof StartFailure
      ? `gantry: ${error.message}`
      : error instanceof Failure
        ? `gantry: ${describeFailure(error)}`
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
    printError(error);
    return error instanceof UsageFailure ? 2 : 1;
  }
};

// Files that this program creates are readable only by their owner.
process.umask(0o077);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early is not an error: `gantry admin user list | head`.
  if (error.code === 'EPIPE') process.exit(0);
  printError(new StartFailure(`cannot write to standard output (${error.message})`));
  process.exit(1);
});
const code = await run();
if (code !== 0) process.exitCode = code;
