import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Failure } from '../../platform/errors.ts';
import { parseLinks } from '../../code/releases/links.ts';
import { toIndividualId, parseIndividualId } from './discussion_id.ts';
import { readPosition } from './position_param.ts';

const sha = 'a1'.repeat(20);
const usual = fc.constantFrom<unknown>(
  sha,
  'text',
  'a.txt',
  '1',
  1,
  0,
  -1,
  1.5,
  '',
  null,
  'x\0',
  '\ud800',
  {},
  [],
);
const part = fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: fc.anything() });
const names = ['base_sha', 'start_sha', 'head_sha', 'position_type', 'old_path', 'new_path', 'old_line'];
const position = fc.record(
  Object.fromEntries([...names, 'new_line', 'line_range'].map((name) => [name, part])),
);
const whole = { base_sha: sha, start_sha: sha, head_sha: sha, new_path: 'a.txt', new_line: 3 };

/** What a parser of requests answers with: a value, or a refusal. */
const isRefusal = (work: () => unknown): boolean => {
  try {
    work();
    return false;
  } catch (error) {
    assert.ok(error instanceof Failure && error.status === 400, String(error));
    return true;
  }
};

test('parses or refuses any value as a position', () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(position, fc.anything()), part, (input, range) => {
      isRefusal(() => readPosition(input));
      if (!isRefusal(() => readPosition({ ...whole, line_range: range }))) read += 1;
    }),
    { numRuns: 2000 },
  );
  assert.ok(read > 0);
});

test('parses or refuses any value as the links of a release', () => {
  const link = fc.record({ name: part, url: fc.oneof(part, fc.webUrl()), link_type: part, filepath: part });
  fc.assert(
    fc.property(fc.oneof(fc.record({ links: fc.array(link) }), fc.anything()), (input) => {
      isRefusal(() => parseLinks(input));
    }),
    { numRuns: 2000 },
  );
});

test('converts the discussion id of a standalone comment back to its note id, and no other id', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (id) => {
      assert.match(toIndividualId(id), /^[0-9a-f]{40}$/);
      assert.equal(parseIndividualId(toIndividualId(id)), id);
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-f]{40}$/), (id) => {
      const note = parseIndividualId(id);
      assert.ok(note === null || toIndividualId(note) === id);
    }),
  );
});
