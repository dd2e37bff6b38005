import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { limitCommand } from './prlimit.ts';

const skip = existsSync('/usr/bin/prlimit') ? false : 'there is no prlimit';

/** Returns the memory and time limits of a process started by this command. */
const limitsSeen = (words: string[]): string => {
  const [program, ...args] = [...words, '/bin/sh', '-c', 'ulimit -d; ulimit -t'];
  return String(execFileSync(program ?? '', args)).trim();
};

test('an interactive process has a limit of one gibibyte and a time limit', { skip }, () => {
  const [kilobytes, seconds] = limitsSeen(limitCommand({ slot: 'interactive', seconds: 20 })).split('\n');
  assert.ok(Number(kilobytes) > 0 && Number(kilobytes) <= 2 ** 20);
  assert.equal(seconds, '30');
});

test('a process that transfers packs has more memory and may run without a time limit', { skip }, () => {
  const [kilobytes, seconds] = limitsSeen(limitCommand({ slot: 'transfer', seconds: null })).split('\n');
  assert.ok(Number(kilobytes) > 0);
  assert.equal(seconds, 'unlimited');
});
