/** A declared parameter has an effect: its code reads it, or the header names it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoints } from '../../src/app/routes.ts';
import { boolean, object } from '../../src/platform/http/schema.ts';
import { configured } from '../golden/client_parameters.ts';
import { findUnreadParameters } from '../golden/read_parameters.ts';

/** Parameters that need not be read, or that are read where the scan does not look. */
const unread: { request: RegExp; names: string; reason: string }[] = [
  { request: /^GET \/namespaces$/, names: 'full_path_search', reason: '`search` always compares full paths' },
  { request: /^GET \/users$/, names: 'skip_ldap', reason: 'there are no users of LDAP' },
  { request: /\/groups$/, names: 'shared_visible_only', reason: 'hidden groups are never listed' },
  { request: /\/housekeeping$/, names: 'task', reason: 'both tasks do the same' },
  { request: /^POST \/ci\/lint$/, names: 'include_merged_yaml', reason: 'it is always in the answer' },
  { request: /^GET \/runners\/:id\/jobs$/, names: 'order_by', reason: 'it has one value' },
  { request: /^GET .*\/search$/, names: 'search_type', reason: 'there is one kind of search' },
  {
    request: /^PUT \/application\/settings$/,
    names: '*',
    reason: 'settings are read by the names in their list',
  },
  {
    request: /^(?:POST|PUT|PATCH|GET) \/jobs\/(?:request|:id)/,
    names: `system_id last_update failure_reason exit_code output debug_trace artifact_type artifact_format expire_in
      direct_download`,
    reason: 'the routes are handed the functions of src/ci/runner_api',
  },
];

const isExplained = (line: string): boolean => {
  const name = line.split(' ').at(-1) ?? '';
  const request = line.slice(0, -name.length - 1);
  return unread.some(
    (one) => one.request.test(request) && (one.names === '*' || one.names.split(/\s+/).includes(name)),
  );
};

const declaredAs = (declared: object): { 'x-kind'?: string; description?: string } => declared;

describe('each declared parameter', () => {
  it('is read by the code of its endpoint', () => {
    const [first, ...others] = endpoints;
    assert.ok(first !== undefined);
    const params = object({ ...first.params.properties, nothing_reads_this: boolean() });
    const found = findUnreadParameters([{ ...first, params }, ...others]);
    const lines = found.filter((line) => !isExplained(line));
    assert.deepEqual(lines, [`${first.method} ${first.path} nothing_reads_this`]);
  });

  it('is named in the header if its description says that it has no effect', () => {
    const lines = endpoints.flatMap(({ method, path, params, withoutEffect }) => {
      const named = new Set(withoutEffect?.(configured) ?? []);
      return Object.entries(params.properties)
        .filter(([name, declared]) => {
          const { 'x-kind': kind, description = '' } = declaredAs(declared);
          return kind !== 'unavailable' && /without effect|\bignored\b/.test(description) !== named.has(name);
        })
        .map(([name]) => `${method} ${path} ${name}`);
    });
    assert.deepEqual(lines, []);
  });
});
