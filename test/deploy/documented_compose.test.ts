/**
 * Commands of `docker compose` in the documents, run in a shell against a stand-in that knows the command line: the
 * files, services and variables that they name exist. Where a builder answers, `samples.test.ts` runs the real one.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'gantry-compose-'));
after(() => rmSync(home, { recursive: true }));

/** Prints its arguments, and the settings that it was given. */
writeFileSync(
  join(home, 'docker'),
  '#!/bin/bash\nprintf "%s\\n" "$*" >> "$CALLS"\nenv | grep -E "^(GANTRY_|REVISION=)" >> "$CALLS.env" || true\n',
);
chmodSync(join(home, 'docker'), 0o755);

type Call = { where: string; command: string; env: string[] };

/** Runs one command line as it stands, from the folder of the clone. */
const runLine = (where: string, line: string): Call[] => {
  const calls = join(home, 'calls');
  for (const file of [calls, `${calls}.env`]) writeFileSync(file, '');
  const { status, stderr } = spawnSync('bash', ['-euc', line], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: `${home}:/usr/bin:/bin`, CALLS: calls },
  });
  assert.equal(status, 0, `${where}: ${line}\n${stderr}`);
  const env = readFileSync(`${calls}.env`, 'utf8').split('\n').filter(Boolean);
  return readFileSync(calls, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((command) => ({ where, command, env }));
};

/** Lines of code that run it: in blocks, in comments of the samples, and between backquotes. */
const linesIn = (text: string): string[] => {
  const joined = text.replaceAll(/\\\n */g, '');
  const blocks = [
    ...joined.matchAll(/^(?:# *)? *((?:[A-Z_]+=(?:\$\([^)]*\)|\S+) +)*docker compose [^`\n]*)$/gm),
  ];
  const spans = [...joined.matchAll(/`(docker compose [^`]*)`/g)];
  // What follows several blanks in a comment explains the command.
  return [...blocks, ...spans].map(([, line = '']) => line.replace(/ {3,}.*/, ''));
};

const calls = ['README.md', ...globSync(['docs/*.md', 'deploy/*'], { cwd: root })]
  .filter((file) => /\.(?:md|yml)$/.test(file))
  .flatMap((file) => linesIn(readFileSync(join(root, file), 'utf8')).flatMap((line) => runLine(file, line)));

type Compose = { name: string; services: Record<string, { build?: object }>; volumes: object };

const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');

/** Options of the commands that the documents use. */
const options: Record<string, readonly string[]> = {
  up: ['-d', '--no-deps', '--wait'],
  down: ['--volumes'],
  build: ['--pull'],
  logs: [],
  kill: ['--signal=HUP'],
  exec: [],
  run: ['--rm'],
};

it('the documents have such commands', () => {
  const files = new Set(calls.map(({ where }) => where));
  for (const file of ['docs/installation.md', 'docs/administration.md', 'deploy/compose.yml'])
    assert.ok(files.has(file), file);
});

for (const { where, command, env } of calls)
  it(`${where}: docker ${command}`, () => {
    const [compose = '', flag, file = '', verb = '', ...rest] = command.split(' ');
    assert.deepEqual([compose, flag], ['compose', '-f']);
    const text = readFileSync(join(root, file), 'utf8');
    const { services } = parse(text, { merge: true }) as Compose;
    const known = options[verb];
    assert.ok(known !== undefined, `no command ${verb}`);
    const isRun = verb === 'exec' || verb === 'run';
    const words = isRun ? rest.slice(0, rest.findIndex((word) => word in services) + 1) : rest;
    for (const word of words)
      assert.ok(word.startsWith('-') ? known.includes(word) : word in services, `${verb} ${word}`);
    if (verb === 'build') {
      assert.ok(Object.values(services).some(({ build }) => build !== undefined));
      assert.ok(
        env.some((setting) => setting.startsWith('REVISION=')),
        'no revision',
      );
    }
    // What follows the service is its program, for which the image has a link, and with `run` is in front already.
    if (verb === 'exec') assert.match(dockerfile, new RegExp(`ln -s \\S+ /usr/local/bin/${rest[1]}$`, 'm'));
    for (const setting of env) {
      const [name = '', value = ''] = setting.split('=');
      if (name === 'REVISION') assert.match(value, /^[0-9a-f]{40}$/);
      assert.ok(text.includes(`\${${name}`), `${file} does not read ${name}`);
    }
  });

it('the pages name volumes that compose makes, and get a new version before they build it', () => {
  const volumes = ['deploy/compose.yml', 'deploy/compose.cluster.yml'].flatMap((file) => {
    const compose = parse(readFileSync(join(root, file), 'utf8'), { merge: true }) as Compose;
    return Object.keys(compose.volumes).map((volume) => `${compose.name}_${volume}`);
  });
  const pages = globSync('docs/*.md', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const removed = pages
    .flatMap((page) => [...page.matchAll(/^docker volume rm (.+)$/gm)])
    .flatMap(([, words = '']) => words.split(' '));
  assert.ok(removed.length > 1);
  for (const volume of removed) assert.ok(volumes.includes(volume), volume);
  const blocks = pages.flatMap((page) =>
    [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, code = '']) => code),
  );
  const builds = blocks.filter((code) => / build --pull\n.* up /.test(code));
  assert.equal(builds.length, 2);
  for (const code of builds) assert.match(code, /^ *git pull\n/);
});
