/**
 * Loads node:test and finds its async hook, by which it follows every promise of the process. The hook tells which test
 * an error outside of any call belongs to, and which suite a declaration does. Once all files are declared, it takes a
 * fifth of the processor time of our tests.
 *
 * No option turns the hook off, and node:test keeps it to itself (`setupProcessState` in Node's
 * lib/internal/test_runner/harness.js). It calls the `createHook` that it finds when it is loaded, so that function is
 * replaced for that moment. With a Node that makes its hook otherwise, none is found: `plan.test.ts` fails, and the other
 * tests only take longer.
 */
import asyncHooks from 'node:async_hooks';

const hooks: asyncHooks.AsyncHook[] = [];
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) => {
  const hook = createHook(callbacks);
  hooks.push(hook);
  return hook;
};
export const { after, beforeEach, describe, it } = await import('node:test');
asyncHooks.createHook = createHook;

/**
 * Stops following promises. From then on, an error outside of any call is told without the name of its test.
 * @returns the number of hooks that it disabled; node:test creates one at the first declaration
 */
export const stopFollowingPromises = (): number => {
  for (const hook of hooks) hook.disable();
  return hooks.length;
};
