/** Runs the updates of live pages with a fake page and network. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startLive } from './live_updates.ts';

type Answer = { ok: boolean; type: string };

const { setTimeout, setInterval, clearInterval, fetch } = globalThis;
after(() => void Object.assign(globalThis, { setTimeout, setInterval, clearInterval, fetch }));

const nextTurn = async (): Promise<void> => await new Promise((done) => void setImmediate(done));

/** Opens a page that polls. Each answer is the next of these; null: no answer. */
const openPage = (answers: (Answer | null)[]) => {
  const asked: string[] = [];
  const waits: number[] = [];
  let [poll, isPolling] = [(): void => undefined, true];
  let later: (() => void) | null = null;
  Object.assign(globalThis, {
    document: {
      querySelector: (selector: string) => (selector === '[data-live]' ? { dataset: { live: '' } } : null),
      querySelectorAll: () => [],
      getElementById: () => null,
    },
    location: { href: '/page' },
    fetch: async (path: string) => {
      asked.push(path);
      const answer = answers.shift() ?? null;
      if (answer === null) throw new TypeError('nobody answers');
      return await Promise.resolve({ ...answer, text: async () => await Promise.resolve('') });
    },
    DOMParser: class {
      parseFromString = () => ({ querySelector: () => ({}) });
    },
    setInterval: (refresh: () => void) => {
      poll = refresh;
      return { unref: () => undefined };
    },
    clearInterval: () => void (isPolling = false),
    setTimeout: (work: () => void, wait: number) => {
      waits.push(wait);
      later = work;
    },
  });
  startLive();
  return {
    asked,
    waits,
    isPolling: () => isPolling,
    poll: async () => {
      poll();
      await nextTurn();
    },
    passTime: async () => {
      later?.();
      await nextTurn();
    },
  };
};

test('backs off while the server does not answer', async () => {
  const page = openPage([null, null, { ok: true, type: 'basic' }]);
  await page.poll();
  for (let time = 0; time < 2; time += 1) {
    await page.passTime();
  }
  assert.deepEqual([page.asked.length, page.waits], [3, [2000, 4000, 1000]]);
  const away = openPage(Array.from({ length: 20 }, () => null));
  await away.poll();
  for (let time = 0; time < 10; time += 1) {
    await away.passTime();
  }
  assert.equal(away.waits.at(-1), 60_000);
});

test('stops polling after a redirect', async () => {
  const page = openPage([{ ok: false, type: 'opaqueredirect' }]);
  await page.poll();
  await page.passTime();
  await page.poll();
  assert.deepEqual([page.asked.length, page.isPolling()], [1, false]);
});
