import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { limitsOf } from './limits.ts';

const skip = existsSync('/usr/bin/prlimit') ? false : 'there is no prlimit';

/** What a process that is started so may use. */
const limitsSeen = (words: string[]): string => {
  const [program, ...args] = [...words, '/bin/sh', '-c', 'ulimit -d; ulimit -t'];
  return String(execFileSync(program ?? '', args)).trim();
};

test('a process that answers a person has a gibibyte, and its time', { skip }, () => {
  const [kilobytes, seconds] = limitsSeen(limitsOf({ slot: 'interactive', seconds: 20 })).split('\n');
  assert.ok(Number(kilobytes) > 0 && Number(kilobytes) <= 2 ** 20);
  assert.equal(seconds, '30');
});

test('one that moves packs has more memory, and may have no limit of time', { skip }, () => {
  const [kilobytes, seconds] = limitsSeen(limitsOf({ slot: 'transfer', seconds: null })).split('\n');
  assert.ok(Number(kilobytes) > 0);
  assert.equal(seconds, 'unlimited');
});
