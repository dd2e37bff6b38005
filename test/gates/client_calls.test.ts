/** The calls that API clients make, against the declared endpoints. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoints } from '../../src/app/routes.ts';
import { id, object, oneOf, text } from '../../src/platform/http/schema.ts';
import { clientCalls, isComplete } from '../golden/client_calls.ts';

const clients = clientCalls(endpoints);

const listAnswered = (list: typeof clients): string[] => [
  ...new Set(
    list.flatMap(({ calls }) =>
      calls.flatMap(({ method, path, isAnswered }) => (isAnswered ? [`${method} ${path}`] : [])),
    ),
  ),
];

describe('the calls of API clients', () => {
  it('the list has the calls of 57 clients', () => {
    assert.equal(clients.length, 57);
    const names = clients.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  it('each call of a client is a method and a path', () => {
    for (const { name, calls } of clients)
      for (const { method, path } of calls) {
        assert.match(method, /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/, name);
        assert.match(path, /^\/[^\s?%]+$/, name);
      }
  });

  it('most clients get an answer to all of their calls', () => {
    const complete = clients.filter(isComplete).map(({ name }) => name);
    assert.ok(complete.length >= 43, `${complete.length}: ${complete.join(' ')}`);
  });

  it('are told apart from calls that no endpoint answers', () => {
    const none = clientCalls([]);
    const some = clientCalls([{ method: 'GET', path: '/projects/:id', params: object({}) }]);
    assert.deepEqual(listAnswered(none), []);
    assert.deepEqual(listAnswered(some), ['GET /projects/:']);
  });

  it('with a word are answered only by parameters that take this word', () => {
    const declare = (method: 'GET' | 'DELETE', path: string, params = {}) => ({
      method,
      path,
      params: object(params),
    });
    const some = clientCalls([
      declare('DELETE', '/projects/:id/services/:slug', { slug: oneOf(['slack', 'youtrack']) }),
      declare('DELETE', '/projects/:id/environments/:environment_id', { environment_id: id() }),
      declare('GET', '/projects/:id/jobs/:job_id/artifacts/:artifact_path', { artifact_path: text() }),
      declare('GET', '/projects/:id/repository/archive.:format', { format: text() }),
    ]);
    assert.deepEqual(listAnswered(some).toSorted(), [
      'DELETE /projects/:/environments/:',
      'DELETE /projects/:/services/slack',
      'DELETE /projects/:/services/youtrack',
      'GET /projects/:/jobs/:/artifacts/:',
      'GET /projects/:/repository/archive.:',
      'GET /projects/:/repository/archive.tar.gz',
    ]);
  });
});
