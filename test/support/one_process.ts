/**
 * Runs many test files in this one process: `node test/support/one_process.ts <file>...`.
 *
 * Each file becomes a suite, so that its top-level hooks are its own and a file that cannot be loaded fails.
 * `node --test --test-isolation=none` gives neither: a hook of one file runs for the tests of all, and what a
 * file throws after its first test is lost.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

const patience = 10_000;
const files = process.argv.slice(2);
let left = files.length;

/** Written at once, for a test that never comes back: what a reporter would say then stays unsaid. */
beforeEach((test) => {
  if (process.env['TEST_BEGUN'] !== undefined) writeFileSync(process.env['TEST_BEGUN'], test.fullName);
});

for (const file of files) {
  describe(file, async () => {
    after(() => {
      left -= 1;
      if (left === 0) setTimeout(blameWhatIsLeft, patience).unref();
    });
    try {
      await import(pathToFileURL(resolve(file)).href);
    } catch (error) {
      it('can be loaded', () => {
        throw error;
      });
    }
  });
}

/** Reached only when something still holds the process: a server, a timer, a connection nobody closed. */
const blameWhatIsLeft = (): void => {
  const resources = process.getActiveResourcesInfo().filter((one) => !/^(TTY|Pipe|FS)Wrap$/.test(one));
  console.error(`still running ${patience / 1000} s after the last test: ${resources.join(', ')}`);
  process.exit(1);
};
