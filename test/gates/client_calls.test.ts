/** The calls that API clients make, against the declared endpoints. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoints } from '../../src/app/routes.ts';
import { clientCalls, isComplete } from '../golden/client_calls.ts';

const clients = clientCalls(endpoints);

describe('the calls of API clients', () => {
  it('are known of 57 clients', () => {
    assert.equal(clients.length, 57);
    const names = clients.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  it('are written as methods and paths', () => {
    for (const { name, calls } of clients)
      for (const { method, path } of calls) {
        assert.match(method, /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/, name);
        assert.match(path, /^\/[^\s?%]+$/, name);
      }
  });

  it('are all answered for most clients', () => {
    const complete = clients.filter(isComplete).map(({ name }) => name);
    assert.ok(complete.length >= 43, `${complete.length}: ${complete.join(' ')}`);
  });

  it('are told apart from calls that no endpoint answers', () => {
    const none = clientCalls([]);
    const some = clientCalls([{ method: 'GET', path: '/projects/:id' }]);
    const answered = (list: typeof clients): string[] => [
      ...new Set(
        list.flatMap(({ calls }) =>
          calls.flatMap(({ method, path, isAnswered }) => (isAnswered ? [`${method} ${path}`] : [])),
        ),
      ),
    ];
    assert.deepEqual(answered(none), []);
    assert.deepEqual(answered(some), ['GET /projects/:']);
  });
});
