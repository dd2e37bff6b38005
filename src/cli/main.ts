/** The program `gantry`: finds the command, and turns how it ended into a line and an exit code. */
import { Failure, StartFailure } from '../errors.ts';
import { version } from '../version.ts';
import { adminCommand } from './admin.ts';
import { HelpShown, UsageFailure, group } from './command.ts';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { migrateCommand } from './migrate.ts';
import { serveCommand } from './serve.ts';
import { versionCommand } from './version.ts';

const program = () => {
  const about = {
    summary: 'Gantry: self-hosted code hosting that speaks the v4 HTTP/JSON API.',
    examples: [
      'gantry serve                        start the service on http://127.0.0.1:8080',
      'gantry admin user create --help     how to add a user',
      'gantry doctor                       find out what is wrong',
    ],
  };
  const commands = [serveCommand, migrateCommand, adminCommand, doctorCommand, configCommand, versionCommand];
  const made = commands.map((make) => make());
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
    await program().parseAsync(process.argv);
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
