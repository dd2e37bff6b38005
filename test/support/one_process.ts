/**
 * Runs many test files in this one process: `node test/support/one_process.ts <file>...`.
 *
 * Each file becomes a suite, so that its top-level hooks are its own and a file that cannot be loaded fails.
 * `node --test --test-isolation=none` gives neither: a hook of one file runs for the tests of all, and what a
 * file throws after its first test is lost.
 */
import { type AsyncHook, createHook } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

const patience = 10_000;
const files = process.argv.slice(2);
let left = files.length;
let unread = files.length;

/**
 * node:test follows each promise to the test that made it, by an async hook. Files need that while they declare their
 * tests; while these run it takes a quarter of all time, and tells no more than whose error it was that nobody caught.
 */
const following: AsyncHook[] = [];
const hooks = Object.getPrototypeOf(createHook({})) as AsyncHook;
const { enable } = hooks; // oxlint-disable-line typescript/unbound-method -- called with its own `this` below
hooks.enable = function noted(this: AsyncHook) {
  following.push(this);
  return enable.call(this);
};

/** Written at once, for a test that never comes back: what a reporter would say then stays unsaid. */
beforeEach((test) => {
  if (process.env['TEST_BEGUN'] !== undefined) writeFileSync(process.env['TEST_BEGUN'], test.fullName);
});

/** Whose it was is said by where it was thrown. */
for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection'])
  process.on(event, (error: unknown) => console.error(error));

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
    unread -= 1;
    if (unread === 0) for (const hook of following) hook.disable();
  });
}

/** Reached only when something still holds the process: a server, a timer, a connection nobody closed. */
const blameWhatIsLeft = (): void => {
  const resources = process.getActiveResourcesInfo().filter((one) => !/^(TTY|Pipe|FS)Wrap$/.test(one));
  console.error(`still running ${patience / 1000} s after the last test: ${resources.join(', ')}`);
  process.exit(1);
};
