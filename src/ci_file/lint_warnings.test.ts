/** What the lint warns of: the file is right, and does not do all that it seems to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningsOf } from '../../test/support/ci_file.ts';

test('warnings say what may surprise, and what is not carried out', async () => {
  const several =
    'jobs:a may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules`';
  assert.deepEqual(await warningsOf('a: { script: x, rules: [{ if: $A }, { when: always }] }'), [several]);
  assert.deepEqual(await warningsOf('a: { script: x, rules: [{ if: $A }, { when: never }] }'), []);
  assert.deepEqual(
    await warningsOf('workflow: { rules: [{ if: $A }] }\na: { script: x, rules: [{ when: always }] }'),
    [],
  );
  const kept =
    'a: { script: x, secrets: { S: { vault: x } }, id_tokens: { T: { aud: y } }, release: { tag_name: z, description: d } }';
  assert.deepEqual(await warningsOf(kept), [
    'jobs:a `id_tokens` is accepted, but not carried out',
    'jobs:a `secrets` cannot be fetched here: the job will fail',
  ]);
  const deeper = `a:
  script: x
  image: { name: i, kubernetes: { user: u } }
  environment: { name: e, kubernetes: { agent: b } }
  services: [{ name: s, ports: [80] }]
  secrets: {}`;
  assert.deepEqual((await warningsOf(deeper)).toSorted(), [
    'jobs:a:environment `kubernetes` is accepted, but not carried out',
    'jobs:a:image `kubernetes` is accepted, but not carried out',
    'jobs:a:services:service `ports` is accepted, but not carried out',
  ]);
  assert.deepEqual(await warningsOf('a: { trigger: { include: child.yml } }'), []);
});

const kept = (where: string, key: string): string => `${where} \`${key}\` is accepted, but not carried out`;

test('what is not carried out is told wherever it stands', async () => {
  const file = `include: lib.yml
default: { id_tokens: { T: { aud: y } }, image: { name: i, ports: [80] }, hooks: { pre_get_sources_script: [h] } }
a: { extends: .base, script: x }
b: { script: x }
c: { trigger: { include: child.yml }, inputs: { i: { default: 1 } }, environment: { name: e, kubernetes: { agent: g } } }`;
  const files = {
    'lib.yml':
      '.base: { release: { tag_name: v, description: d }, publish: dist }\nincluded: { script: x, pages: true }',
  };
  assert.deepEqual((await warningsOf(file, files)).toSorted(), [
    kept('default', 'id_tokens'),
    kept('default:image', 'ports'),
    kept('jobs:a', 'publish'),
    kept('jobs:c', 'inputs'),
    kept('jobs:c:environment', 'kubernetes'),
    kept('jobs:included', 'pages'),
  ]);
});

test('a job that makes a site elsewhere is told to make none, unless it says so itself', async () => {
  const none = 'jobs:pages is a job as any other: no site is made of what it leaves';
  assert.deepEqual(await warningsOf('pages: { script: x }'), [none]);
  assert.deepEqual(await warningsOf('pages: { script: x, pages: true }'), [kept('jobs:pages', 'pages')]);
  assert.deepEqual(await warningsOf('pages: { script: x, pages: false }'), []);
  assert.deepEqual(await warningsOf('pages: { trigger: { include: child.yml } }'), []);
});
