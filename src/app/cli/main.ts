/** The program `gantry`: runs the command and turns its outcome into a message and an exit code. */
import { Failure, StartFailure } from '../../platform/errors.ts';
import { HelpShown, UsageFailure } from './command_builders.ts';
import { loadProgram } from './commands.ts';

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
    await (await loadProgram(process.argv[2])).parseAsync(process.argv);
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
