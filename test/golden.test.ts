import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, goldens } from './golden.ts';

const read = (file: string): string => {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    return '';
  }
};

/** The first line that differs: the whole of a file would say less. */
const describeDiff = (kept: string, made: string): string => {
  const [before, after] = [kept.split('\n'), made.split('\n')];
  const line = after.findIndex((text, index) => text !== before[index]);
  const at = line === -1 ? after.length : line;
  return `line ${at + 1}\n  is      ${before[at] ?? '(nothing)'}\n  should be ${after[at] ?? '(nothing)'}`;
};

for (const { file, make } of goldens(process.env['GANTRY_TEST_DATABASE_URL'] ?? null)) {
  test(`docs/${file} tells what the code says`, async () => {
    const [kept, made] = [read(file), await make()];
    const name = file.replace(/\.\w+$/, '');
    const hint = `If the change is meant, run "npm run golden -- ${name}" and commit docs/${file}; it is made by test/golden.ts`;
    if (kept !== made) assert.fail(`docs/${file}, ${describeDiff(kept, made)}\n${hint}`);
  });
}
