/** Commands of `gantry` that the documents name: they exist, with the options that are used. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Command } from 'commander';
import { loadProgram } from '../../src/app/cli/commands.ts';

const root = join(import.meta.dirname, '../..');
let commands: readonly Command[];
before(async () => {
  commands = (await loadProgram(undefined)).commands;
});

/** Finds the command that the words begin with, and the words after it. */
const findCommand = (words: readonly string[]): { command: Command; rest: readonly string[] } | null => {
  let at = commands.find((one) => one.name() === words[0]);
  if (at === undefined) return null;
  let count = 1;
  for (;;) {
    const next: Command | undefined = at.commands.find((one) => one.name() === words[count]);
    if (next === undefined) return { command: at, rest: words.slice(count) };
    at = next;
    count += 1;
  }
};

/** Says what is wrong with a command line after `gantry`; null: nothing. */
const faultOf = (line: string): string | null => {
  const words = line.trim().split(/[\s,.;:]+/);
  const found = findCommand(words);
  if (found === null) return `there is no gantry ${words[0]}`;
  const { command, rest } = found;
  const isGroup = command.commands.length > 0;
  if (isGroup && /^[a-z]/.test(rest[0] ?? '')) return `gantry ${command.name()} has no ${rest[0]}`;
  const known = new Set(['--help', ...command.options.map(({ long }) => long ?? '')]);
  const unknown = rest.find((word) => word.startsWith('--') && !known.has(word.replace(/=.*/, '')));
  return unknown === undefined ? null : `gantry ${command.name()} has no ${unknown}`;
};

/** Command lines in code of a document: in blocks, and between backquotes. */
const linesIn = (text: string): string[] =>
  [
    ...text.matchAll(
      /(?:^|[`$ =])(?:\.\/)?gantry ((?:serve|migrate|backup|adopt|storage|gitd|runner|admin|doctor|config|version)\b[^`\n|]*)/gm,
    ),
  ].map(([, line = '']) => line);

test('commands and options that the documents name exist', () => {
  const files = globSync(['*.md', 'docs/*.md', 'deploy/**/*'], { cwd: root }).filter((file) =>
    /\.\w+$/.test(file),
  );
  const faults = files.flatMap((file) =>
    linesIn(readFileSync(join(root, file), 'utf8'))
      .map(faultOf)
      .filter((fault) => fault !== null)
      .map((fault) => `${file}: ${fault}`),
  );
  assert.deepEqual(faults, []);
});

test('a wrong command or option is found', () => {
  assert.equal(faultOf('serve --data x'), null);
  assert.match(faultOf('serve --date x') ?? '', /no --date/);
  assert.match(faultOf('admin user remove maria') ?? '', /no remove/);
  assert.equal(linesIn('Run `gantry doctor --thorough`, or:\n$ gantry admin user list').length, 2);
});
