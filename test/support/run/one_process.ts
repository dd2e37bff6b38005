/**
 * Runs many test files in one process: `node test/support/run/one_process.ts <file>...`. Each file becomes a suite
 * with its own top-level hooks, and a file that cannot be loaded fails. `node --test --test-isolation=none` provides
 * neither: a hook of one file runs for the tests of all files, and an error thrown after a file's first test is lost.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, beforeEach, describe, it, stopFollowingPromises } from './load_node_test.ts';
import { processorNote, readProcessorSeconds } from './processor_seconds.ts';

const exitTimeout = 10_000;
const files = process.argv.slice(2);
let remaining = files.length;

/** Writes the test's name immediately: a reporter would say nothing about a test that never returns. */
beforeEach((test) => {
  if (process.env['TEST_BEGUN'] !== undefined) writeFileSync(process.env['TEST_BEGUN'], test.fullName);
});

/** Prints the error with its stack, which names the file that threw it. */
for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection'])
  process.on(event, (error: unknown) => console.error(error));

const require = createRequire(import.meta.url);
const isAsync = (error: unknown): boolean =>
  (error as { code?: unknown }).code === 'ERR_REQUIRE_ASYNC_MODULE';

/**
 * Loads the file before the suite's function returns. node:test adds a test to the suite whose promise led to the
 * declaration, and concurrent imports may evaluate each other's files.
 */
const load = (path: string): Promise<unknown> | undefined => {
  try {
    require(path);
    return undefined;
  } catch (error) {
    if (!isAsync(error)) throw error;
    // `plan.ts` runs a file with top-level await in a process of its own.
    if (files.length === 1) return import(pathToFileURL(path).href);
    throw new Error(
      `A module that ${path} imports awaits at its top level: use a function or "before" there, or import it later ` +
        '(test/support/run/one_process.ts)',
      { cause: error },
    );
  }
};

/** Processor seconds when the last file ended; the first file pays for loading the modules of all. */
let counted = 0;

const endFile = (file: string, note: (text: string) => void): void => {
  const used = readProcessorSeconds();
  note(processorNote(file, used - counted));
  counted = used;
  remaining -= 1;
  if (remaining === 0) setTimeout(reportOpenHandles, exitTimeout).unref();
};

for (const file of files) {
  describe(file, async () => {
    try {
      const loading = load(resolve(file));
      if (loading !== undefined) await loading;
    } catch (error) {
      it('can be loaded', () => {
        throw error;
      });
    }
    // After the hooks of the file, which stop its processes.
    after((suite) => endFile(file, (text) => suite.diagnostic(text)));
  });
}

// A file by itself, such as one that failed among others, has its errors told by test.
if (files.length > 1) stopFollowingPromises();

/** Runs only if something still keeps the process alive: a server, a timer or an open connection. */
const reportOpenHandles = (): void => {
  const resources = process.getActiveResourcesInfo().filter((one) => !/^(TTY|Pipe|FS)Wrap$/.test(one));
  console.error(`still running ${exitTimeout / 1000} s after the last test: ${resources.join(', ')}`);
  process.exit(1);
};
