import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { OpenApi } from '../../../platform/http/openapi/document.ts';
import { endpoints } from '../../../app/routes.ts';
import { assets } from '../assets.ts';
import { exampleCall } from './example_call.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const readPage = async (path = '/-/docs/api') => {
  const response = await fetch(gantry.url + path);
  return { headers: response.headers, status: response.status, text: await response.text() };
};

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, one]) => one ?? '');

test('serves a valid OpenAPI document to anyone', async () => {
  const reply = await gantry.api('GET /openapi.json', { as: null });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'application/json');
  const { valid, errors } = await new Validator().validate(structuredClone(reply.body));
  assert.deepEqual({ valid, errors }, { valid: true, errors: undefined });
  const operations = Object.values((reply.body as OpenApi).paths).flatMap((methods) => Object.keys(methods));
  assert.equal(operations.length, endpoints.length);
});

test('gives each operation a unique id', async () => {
  const { paths } = (await gantry.api('GET /openapi.json')).body as OpenApi;
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  assert.equal(new Set(ids).size, ids.length);
  // OpenAPI treats paths that differ only in a parameter's name as equal.
  const shapes = Object.keys(paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
  assert.deepEqual(
    shapes.filter((shape, index) => shapes.indexOf(shape) !== index),
    [],
  );
});

test('answers 304 to a client that has the document', async () => {
  const etag = (await gantry.api('GET /openapi.json')).headers.get('etag') ?? '';
  assert.equal((await gantry.api('GET /openapi.json', { headers: { 'if-none-match': etag } })).status, 304);
});

test('serves the API reference to anyone: an overview, and a page for each area', async () => {
  const { status, headers, text } = await readPage();
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  const paths = new Set(all(text, / href="(\/-\/docs\/api\/[^"#]+)"/g));
  let operations = 0;
  for (const path of paths) {
    const page = await readPage(path);
    assert.equal(page.status, 200, path);
    assert.ok(page.text.length < 300_000, `${path}: ${page.text.length}`);
    operations += all(page.text, /(<code class="method">)/g).length;
  }
  assert.equal(operations, endpoints.length);
  const instance = await readPage('/-/docs/api/instance');
  assert.match(instance.text, /<code class="method">GET<\/code> <code>\/version<\/code>/);
  assert.ok(
    instance.text.includes(`&quot;${gantry.url}/api/v4/version&quot;`),
    'an example names this service',
  );
  assert.equal((await readPage('/-/docs/api/nothing')).status, 404);
});

test('loads nothing from other sites, and has a policy that forbids it', async () => {
  const { headers, text } = await readPage();
  const policy = headers.get('content-security-policy') ?? '';
  assert.ok(policy.startsWith("default-src 'none'; "));
  assert.ok(policy.includes("; style-src 'self'; "));
  assert.doesNotMatch(policy, /unsafe|script-src/);
  assert.deepEqual(all(text, /<link rel="stylesheet" href="([^"]*)"/g), [assets().docs]);
  assert.doesNotMatch(text, /<script|<style|<img|<iframe| style=| on[a-z]+=|javascript:/);
});

for (const path of ['/-/docs/api', '/-/docs/api/issues']) {
  test(`${path} has landmarks, one h1, headings in order and links that resolve`, async () => {
    const { text } = await readPage(path);
    for (const landmark of ['header', 'nav', 'main']) {
      assert.equal(all(text, new RegExp(`<(${landmark})\\b`, 'g')).length, 1, landmark);
    }
    const levels = all(text, /<h([1-6])/g).map(Number);
    assert.equal(levels.filter((level) => level === 1).length, 1);
    assert.ok(levels.every((level, index) => level <= (levels[index - 1] ?? 0) + 1));
    const ids = all(text, / id="([^"]*)"/g);
    assert.equal(new Set(ids).size, ids.length);
    const dead = all(text, / href="#([^"]*)"/g).filter((target) => !ids.includes(target));
    assert.deepEqual(dead, []);
  });

  test(`${path} closes every element where it was opened`, async () => {
    const { text } = await readPage(path);
    const open: string[] = [];
    for (const [, slash, name = ''] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)/g)) {
      if (name === 'meta' || name === 'link') continue;
      if (slash === '') open.push(name);
      else assert.equal(open.pop(), name);
    }
    assert.deepEqual(open, []);
  });
}

test('an example sends the required fields, and one field of an update', () => {
  const field = { in: 'body', required: false, meaning: '' } as const;
  const call = exampleCall('http://h/api/v4', {
    method: 'PUT',
    path: '/projects/{id}/books/{book_id}',
    fields: [
      { ...field, name: 'id', in: 'path', required: true, schema: { type: ['integer', 'string'] } },
      { ...field, name: 'book_id', in: 'path', required: true, schema: { type: 'integer' } },
      { ...field, name: 'due', schema: { type: ['string', 'null'], format: 'date' } },
      { ...field, name: 'title', schema: { type: 'string' } },
    ],
    signsIn: true,
  });
  const lines = ['curl', '--request PUT', '--header "PRIVATE-TOKEN: $TOKEN"', '--data "due=2026-01-31"'];
  assert.equal(call, [...lines, '"http://h/api/v4/projects/1/books/1"'].join(' \\\n  '));
});
