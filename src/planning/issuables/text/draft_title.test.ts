import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isWorkInProgress, markDraft, withoutWorkInProgress } from './draft_title.ts';

const marked = [
  'WIP: x',
  'wip: x',
  'WIP:x',
  '[WIP] x',
  '[wip]x',
  'WIP x',
  ' WIP: x',
  'WIP\tx',
  'WIP: [WIP] x',
];
const drafts = ['Draft: x', 'draft:x', 'DRAFT: x', '[Draft] x', '(Draft) x', '(draft)x', 'Draft: WIP: x'];
const free = [
  'x',
  '',
  'WIP',
  'WIPE x',
  'x WIP: y',
  'Draft x',
  'Drafts: x',
  'draft',
  '(WIP) x',
  'wi p: x',
  'W',
];

describe('isWorkInProgress', () => {
  for (const title of [...marked, ...drafts]) {
    it(`is true of ${JSON.stringify(title)}`, () => assert.equal(isWorkInProgress(title), true));
  }
  for (const title of free) {
    it(`is false of ${JSON.stringify(title)}`, () => assert.equal(isWorkInProgress(title), false));
  }
});

describe('markDraft', () => {
  it('adds a prefix to a title without one', () => {
    assert.equal(markDraft('x'), 'Draft: x');
    assert.equal(markDraft('x', 'WIP: '), 'WIP: x');
    for (const title of [...marked, ...drafts]) assert.equal(markDraft(title), title);
  });
});

describe('withoutWorkInProgress', () => {
  it('keeps the title after the prefixes unchanged', () => {
    for (const title of [...marked, ...drafts]) assert.equal(withoutWorkInProgress(title), 'x', title);
    for (const title of free) assert.equal(withoutWorkInProgress(title), title);
    assert.equal(withoutWorkInProgress('WIP:'), '');
  });

  it('always leaves a title that is not work in progress, in linear time', () => {
    const piece = fc.constantFrom('WIP', 'wip:', '[WIP]', 'Draft:', '(draft)', ' ', 'x');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const title = pieces.join('');
        const rest = withoutWorkInProgress(title);
        assert.equal(isWorkInProgress(rest), false);
        assert.ok(title.endsWith(rest));
      }),
    );
    assert.equal(withoutWorkInProgress('WIP: '.repeat(200_000)), '');
    assert.equal(isWorkInProgress(' '.repeat(1e6)), false);
  });
});
