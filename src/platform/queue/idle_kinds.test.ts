import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeIdleKinds } from './idle_kinds.ts';
import { allKinds } from './leases.ts';

const others = { except: ['slow'] };

test('kinds stay idle while pieces of other kinds end', () => {
  const idle = makeIdleKinds(60_000);
  assert.equal(idle.isIdle(others), false);
  idle.startLook(others)();
  idle.forget('slow');
  assert.equal(idle.isIdle(others), true);
  assert.equal(idle.isIdle(allKinds), false);
});

test('the end of a piece makes its own kind worth a look', () => {
  const idle = makeIdleKinds(60_000);
  for (const kinds of [others, allKinds, { only: ['quick'] }]) idle.startLook(kinds)();
  idle.forget('quick');
  for (const kinds of [others, allKinds, { only: ['quick'] }]) assert.equal(idle.isIdle(kinds), false);
});

test('kinds are worth a look after new work, also if it came during a look, and after some time', () => {
  const idle = makeIdleKinds(60_000);
  const noteIdle = idle.startLook(others);
  idle.forgetAll();
  noteIdle();
  assert.equal(idle.isIdle(others), false);
  const brief = makeIdleKinds(0);
  brief.startLook(others)();
  assert.equal(brief.isIdle(others), false);
});
