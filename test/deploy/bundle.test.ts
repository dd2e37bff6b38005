/** The bundle in `dist/` loads some packages by name: the image has each of them, or nothing ever asks for it. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { listUnbundledPackages } from '../../tools/copy_unbundled_packages.ts';

const root = join(import.meta.dirname, '../..');

/** Packages that the bundle names and never loads. */
const unused: Record<string, string> = {
  'pg-native': 'pg loads it where NODE_PG_FORCE_NATIVE is set; we have no native packages',
  'light-my-request': 'fastify loads it in inject(), which only tests call',
  '@fastify/ajv-compiler': 'fastify loads it for schemas of requests, which our routes do not give it',
  '@fastify/fast-json-stringify-compiler': 'fastify loads it for schemas of answers, as above',
};

const toPackage = (path: string): string => path.split('/', path.startsWith('@') ? 2 : 1).join('/');

/** Lists packages that a module of the bundle imports, or loads with a function that `createRequire` returned. */
const listLoaded = (text: string): string[] => {
  const loaders = [...text.matchAll(/([\w$]+) = (?:\(\(\) => )?createRequire\(/g)].map(([, name = '']) =>
    name.replaceAll('$', String.raw`\$`),
  );
  const calls = ['import', String.raw`[\w$]*require(?:\$\d+)?`, 'resolve', ...loaders].join('|');
  const patterns = [
    new RegExp(`(?<![\\w$])(?:${calls})\\(["'\`]([^"'\`$]+)`, 'g'),
    /^(?:import|export)\b[^"'\n]*["']([^"'\n]+)["'];?$/gm,
  ];
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)].map(([, path = '']) => path))
    .filter((path) => /^[@a-z]/.test(path) && !path.includes(':') && !isBuiltin(path))
    .map(toPackage);
};

test('packages that a module loads are found', () => {
  const found = (text: string): string[] => listLoaded(text);
  assert.deepEqual(found('import { a } from "one";\nexport { b } from "@two/three/four";'), [
    'one',
    '@two/three',
  ]);
  assert.deepEqual(found('await import("one"); require("fs"); import "node:fs";'), ['one']);
  assert.deepEqual(found('const load$1 = createRequire(x);\nload$1(`one/lib/${name}`);'), ['one']);
  assert.deepEqual(found('import "./one.mjs"; import("../two.mjs");'), []);
});

test('the image has every package that the bundle loads', () => {
  const files = globSync('dist/**/*.mjs', { cwd: root });
  assert.ok(files.length > 100);
  const loaded = new Set(files.flatMap((file) => listLoaded(readFileSync(join(root, file), 'utf8'))));
  const kept = new Set(listUnbundledPackages());
  const missing = [...loaded].filter(
    (name) => !kept.has(`node_modules/${name}`) && unused[name] === undefined,
  );
  assert.deepEqual(missing, []);
  assert.deepEqual(
    Object.keys(unused).filter((name) => !loaded.has(name)),
    [],
  );
  for (const name of ['ssh2', 'highlight.js', 'fast-json-stringify', '@simplewebauthn/server'])
    assert.ok(loaded.has(name) && existsSync(join(root, 'node_modules', name)), name);
});
