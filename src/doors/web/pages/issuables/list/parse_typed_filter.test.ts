/** Tests what the filter of a list makes of what is typed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chipQuery, chipText } from './filter_chips.ts';
import { issueLanguage, mergeChips, readTyped, requestLanguage } from './parse_typed_filter.ts';

const read = (text: string, isOfRequests = false) => {
  const { chips, state } = isOfRequests
    ? readTyped(text, 'ada', requestLanguage)
    : readTyped(text, 'ada', issueLanguage);
  return { ...chipQuery(chips), ...(state !== undefined && { state }) };
};

test('turns terms into the filters of the API', () => {
  assert.deepEqual(read('label:bug ~"help wanted" -label:x assignee:me author:@bob'), {
    labels: 'bug,help wanted',
    'not[labels]': 'x',
    assignee_username: 'ada',
    author_username: 'bob',
  });
  assert.deepEqual(read('milestone:none due:late is:confidential is:closed'), {
    milestone: 'None',
    due_date: 'overdue',
    confidential: 'true',
    state: 'closed',
  });
  assert.deepEqual(read('assignee:none -milestone:1.5 confidential:no reaction:tada'), {
    assignee_id: 'None',
    'not[milestone]': '1.5',
    confidential: 'false',
    my_reaction_emoji: 'tada',
  });
});

test('knows the filters of merge requests, which issues do not have', () => {
  assert.deepEqual(read('reviewer:me -reviewer:bob draft:no approved:yes target:main is:merged', true), {
    reviewer_username: 'ada',
    'not[reviewer_username]': 'bob',
    draft: 'false',
    approved: 'yes',
    target_branch: 'main',
    state: 'merged',
  });
  assert.deepEqual(read('is:draft reviewer:none source:keep -target:main due:late', true), {
    draft: 'true',
    reviewer_id: 'None',
    source_branch: 'keep',
    search: '-target:main due:late',
  });
  assert.deepEqual(read('reviewer:me is:merged'), { search: 'reviewer:me is:merged' });
});

test('searches for what is no term', () => {
  assert.deepEqual(read('load  case label:bug'), { labels: 'bug', search: 'load case' });
  assert.deepEqual(read('due:someday constructor:x https://a.b'), {
    search: 'due:someday constructor:x https://a.b',
  });
  assert.deepEqual(read('   '), {});
  assert.deepEqual(read('"exact words"'), { search: 'exact words' });
});

test('adds to the filters of the list', () => {
  const before = [
    { name: 'labels', value: 'bug' },
    { name: 'milestone', value: '1.4' },
    { name: 'search', value: 'load' },
  ];
  const merged = mergeChips(
    before,
    readTyped('label:BUG label:x milestone:1.5 case', null, issueLanguage).chips,
  );
  assert.deepEqual(chipQuery(merged), { labels: 'BUG,x', milestone: '1.5', search: 'load case' });
  assert.deepEqual(merged.map(chipText), [
    'text = load',
    'label = BUG',
    'label = x',
    'milestone = 1.5',
    'text = case',
  ]);
});
