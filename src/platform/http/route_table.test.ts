/** Which route a path has, and which values its parameters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../errors.ts';
import { makeRouteTable } from './route_table.ts';

const lines = [
  'GET /',
  'GET /projects',
  '* /projects',
  'GET /projects/:id',
  'DELETE /projects/:id',
  'GET /projects/starred',
  '* /projects/starred',
  'GET /projects/:id/archive',
  'GET /projects/:id/archive.:format',
  'GET /projects/:id/:page',
  'POST /projects/:project_id/:page/new',
  'GET /groups/all/members',
  'GET /groups/:id/issues',
];

const table = makeRouteTable();
for (const line of lines) {
  const [method = '', url = ''] = line.split(' ');
  table.add({ method, url, handler: () => line });
}

const found = (line: string): string => {
  const [method = '', path = ''] = line.split(' ');
  const { route, params } = table.find(method, path) ?? { route: undefined, params: {} };
  return route === undefined ? 'none' : `${route.method} ${route.url} ${JSON.stringify(params)}`;
};

test('finds words before parameters, and goes back where words lead to no route', () => {
  assert.equal(found('GET /'), 'GET / {}');
  assert.equal(found('GET /projects?page=2/3'), 'GET /projects {}');
  assert.equal(found('GET /projects/starred'), 'GET /projects/starred {}');
  assert.equal(found('GET /projects/4#top'), 'GET /projects/:id {"id":"4"}');
  assert.equal(found('GET /projects/4/archive'), 'GET /projects/:id/archive {"id":"4"}');
  assert.equal(
    found('GET /projects/4/archive.zip'),
    'GET /projects/:id/archive.:format {"id":"4","format":"zip"}',
  );
  assert.equal(found('GET /projects/4/archives'), 'GET /projects/:id/:page {"id":"4","page":"archives"}');
  assert.equal(found('GET /groups/all/issues'), 'GET /groups/:id/issues {"id":"all"}');
  assert.equal(found('GET /groups/4/members'), 'none');
  assert.equal(found('GET /project'), 'none');
  assert.equal(found('GET /projects/4/5/6'), 'none');
});

test('names the parameters as the route of the method does', () => {
  assert.equal(
    found('POST /projects/4/a/new'),
    'POST /projects/:project_id/:page/new {"project_id":"4","page":"a"}',
  );
  assert.equal(found('GET /projects/4/a/new'), 'none');
});

test('answers HEAD as GET, and leaves a method without a route to the route of all methods', () => {
  assert.equal(found('HEAD /projects'), 'GET /projects {}');
  assert.equal(found('PUT /projects'), '* /projects {}');
  assert.equal(found('DELETE /projects/starred'), '* /projects/starred {}');
  assert.equal(found('DELETE /projects/4'), 'DELETE /projects/:id {"id":"4"}');
  assert.equal(found('PUT /projects/4'), 'none');
});

test('decodes each segment once', () => {
  assert.equal(found('GET /%70rojects/a%2Fb'), 'GET /projects/:id {"id":"a/b"}');
  assert.equal(found('GET /projects/a%252Fb'), 'GET /projects/:id {"id":"a%2Fb"}');
  assert.equal(found('GET /projects%2Fstarred'), 'none');
  assert.equal(found('GET /projects/__proto__'), 'GET /projects/:id {"id":"__proto__"}');
});

test('refuses a parameter that is too long', () => {
  const isTooLong = (error: unknown): boolean => error instanceof Failure && error.status === 414;
  assert.throws(() => found(`GET /projects/${'a'.repeat(8193)}`), isTooLong);
  assert.equal(found(`GET /nowhere/${'a'.repeat(8193)}`), 'none');
});

test('takes one route of a method and a path', () => {
  const add = (): void => table.add({ method: 'GET', url: '/projects/:project', handler: () => null });
  assert.throws(add, /GET \/projects\/:project has two routes/);
});
