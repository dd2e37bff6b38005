import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalPath, dashedForm, rewriteHomePath, rewritePagePath } from './project_paths.ts';

test('leads the paths of pages to their routes, and leaves all others alone', () => {
  const routes = new Map([
    ['/a/b/-/pipelines/3', '/-/projects/a%2Fb/pipelines/3'],
    ['/a/b/c/-/jobs/3/artifacts/browse/x/y', '/-/projects/a%2Fb%2Fc/jobs/3/artifacts/browse/x%2Fy'],
    ['/groups/a/b/-/runners', '/-/groups/a%2Fb/runners'],
    ['/a/b/-/settings/ci_cd', '/-/projects/a%2Fb/settings/ci_cd'],
    ['/groups/a/-/settings/ci_cd', '/-/groups/a/runners'],
    ['/a/-/pipelines', '/a/-/pipelines'],
    ['/api/v4/projects', '/api/v4/projects'],
    ['/-/docs/api', '/-/docs/api'],
  ]);
  for (const [path, expected] of routes) assert.equal(rewritePagePath(path), expected);
});

test('leads the paths of users, groups and projects to their pages', () => {
  const routes = new Map([
    ['/someone', '/-/namespaces/someone'],
    ['/a/b', '/-/projects/a%2Fb'],
    ['/a/b/c', '/-/projects/a%2Fb%2Fc'],
    ['/groups/a/b', '/-/groups/a%2Fb'],
    ['/groups', '/groups'],
    ['/groups/new', '/groups/new'],
    ['/users/sign_in', '/users/sign_in'],
    ['/robots.txt', '/robots.txt'],
    ['/', '/'],
    ['/a/b%20c', '/a/b%20c'],
    ['/a/b/blob/main/x%20y', '/-/projects/a%2Fb%2Fblob%2Fmain%2Fx%2520y'],
  ]);
  for (const [path, expected] of routes) assert.equal(rewriteHomePath(path), expected);
});

test('each page has one address', () => {
  assert.equal(canonicalPath('/a/b/-/issues/1?x=1'), '/a/b/issues/1?x=1');
  assert.equal(canonicalPath('/a/b/-/pipelines?page=2'), '/a/b/-/pipelines?page=2');
  assert.equal(canonicalPath('/groups/a/-/issues'), '/groups/a/-/issues');
  assert.equal(dashedForm('/a/b/blob/main/x'), '/a/b/-/blob/main/x');
  assert.equal(dashedForm('/a/b'), null);
});
