/** Tests warnings: the file is valid but does less than it seems to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileWarnings } from '../../../test/support/ci/ci_file.ts';

test('warns of surprising and unsupported keywords', async () => {
  const several =
    'jobs:a may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules`';
  assert.deepEqual(await compileWarnings('a: { script: x, rules: [{ if: $A }, { when: always }] }'), [
    several,
  ]);
  assert.deepEqual(await compileWarnings('a: { script: x, rules: [{ if: $A }, { when: never }] }'), []);
  assert.deepEqual(
    await compileWarnings('workflow: { rules: [{ if: $A }] }\na: { script: x, rules: [{ when: always }] }'),
    [],
  );
  const kept =
    'a: { script: x, secrets: { S: { vault: x } }, id_tokens: { T: { aud: y } }, release: { tag_name: z, description: d } }';
  assert.deepEqual(await compileWarnings(kept), [
    'jobs:a `id_tokens` is accepted, but not carried out',
    'jobs:a `secrets` cannot be fetched here: the job will fail',
  ]);
  const deeper = `a:
  script: x
  image: { name: i, kubernetes: { user: u } }
  environment: { name: e, kubernetes: { agent: b } }
  services: [{ name: s, ports: [80] }]
  secrets: {}`;
  assert.deepEqual((await compileWarnings(deeper)).toSorted(), [
    'jobs:a:environment `kubernetes` is accepted, but not carried out',
    'jobs:a:image `kubernetes` is accepted, but not carried out',
    'jobs:a:services:service `ports` is accepted, but not carried out',
  ]);
  assert.deepEqual(await compileWarnings('a: { trigger: { include: child.yml } }'), []);
});

const kept = (where: string, key: string): string => `${where} \`${key}\` is accepted, but not carried out`;

test('warns of unsupported keywords in every place', async () => {
  const file = `include: lib.yml
default: { id_tokens: { T: { aud: y } }, image: { name: i, ports: [80] }, hooks: { pre_get_sources_script: [h] } }
a: { extends: .base, script: x }
b: { script: x }
c: { trigger: { include: child.yml }, inputs: { i: { default: 1 } }, environment: { name: e, kubernetes: { agent: g } } }`;
  const files = {
    'lib.yml':
      '.base: { release: { tag_name: v, description: d }, publish: dist }\nincluded: { script: x, pages: true }',
  };
  assert.deepEqual((await compileWarnings(file, files)).toSorted(), [
    kept('default', 'id_tokens'),
    kept('default:image', 'ports'),
    kept('jobs:a', 'publish'),
    kept('jobs:c', 'inputs'),
    kept('jobs:c:environment', 'kubernetes'),
    kept('jobs:included', 'pages'),
  ]);
});

test('warns that a pages job publishes no site, unless it disables pages', async () => {
  const none = 'jobs:pages runs as any job: its artifacts are not published as a site';
  assert.deepEqual(await compileWarnings('pages: { script: x }'), [none]);
  assert.deepEqual(await compileWarnings('pages: { script: x, pages: true }'), [kept('jobs:pages', 'pages')]);
  assert.deepEqual(await compileWarnings('pages: { script: x, pages: false }'), []);
  assert.deepEqual(await compileWarnings('pages: { trigger: { include: child.yml } }'), []);
});
