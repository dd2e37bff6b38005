/** Tests what the filter of a list makes of what is typed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chipQuery, chipText } from './filter_chips.ts';
import { mergeChips, readTyped } from './parse_typed_filter.ts';
import { parsePeriod } from './periods.ts';
import { issueLanguage, requestLanguage } from './typed_terms.ts';

const now = Date.UTC(2026, 2, 31, 15, 30);
const typist = { me: 'ada', now };

const read = (text: string, isOfRequests = false) => {
  const { chips, state } = isOfRequests
    ? readTyped(text, typist, requestLanguage)
    : readTyped(text, typist, issueLanguage);
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
  assert.deepEqual(read('is:draft reviewer:none source:keep approved-by:me approved-by:@bob', true), {
    draft: 'true',
    reviewer_id: 'None',
    source_branch: 'keep',
    approved_by_usernames: 'ada,bob',
  });
  assert.deepEqual(read('environment:"eu west" merged:7d', true), { environment: 'eu west', merged: '7d' });
});

test('reads names with commas as alternatives, and excludes all of them with a minus', () => {
  assert.deepEqual(read('label:bug,"help wanted" author:me,@bob assignee:bob,eve'), {
    'or[labels]': 'bug,help wanted',
    'or[author_username]': 'ada,bob',
    'or[assignee_username]': 'bob,eve',
  });
  assert.deepEqual(read('-label:bug,ui -author:bob,eve'), {
    'not[labels]': 'bug,ui',
    'not[author_username]': 'bob,eve',
  });
  const chips = readTyped('label:bug,ui author:me,bob', typist, issueLanguage).chips;
  assert.deepEqual(chips.map(chipText), ['label = bug or ui', 'author = ada or bob']);
  const { chips: more } = readTyped('author:eve', typist, issueLanguage);
  assert.deepEqual(chipQuery(mergeChips(chips, more)), { 'or[labels]': 'bug,ui', author_username: 'eve' });
});

test('reads days, ranges and how long ago', () => {
  const days = (text: string) => {
    const period = parsePeriod(text, now);
    if (period === null) return null;
    const show = (time?: number) => (time === undefined ? '' : new Date(time).toISOString().slice(0, -1));
    return [show(period.after), show(period.before)].join(' ');
  };
  const [first, last] = ['T00:00:00.000', 'T23:59:59.999'];
  for (const [text, expected] of [
    ['2026-01-31', `2026-01-31${first} 2026-01-31${last}`],
    ['>2026-01-31', `2026-02-01${first} `],
    ['>=2026-01-31', `2026-01-31${first} `],
    ['<2026-01-31', ` 2026-01-30${last}`],
    ['<= 2026-01-31', ` 2026-01-31${last}`],
    ['2026-01-01..2026-01-31', `2026-01-01${first} 2026-01-31${last}`],
    ['2026-01-01..', `2026-01-01${first} `],
    ['..yesterday', ` 2026-03-30${last}`],
    ['TODAY', `2026-03-31${first} 2026-03-31${last}`],
    ['7d', `2026-03-24${first} `],
    ['2w', `2026-03-17${first} `],
    ['1m', `2026-02-28${first} `],
    ['1y', `2025-03-31${first} `],
    ['>2026-01-31,<2026-03-01', `2026-02-01${first} 2026-02-28${last}`],
    ['2026-02-30', null],
    ['..', null],
    ['>', null],
    ['9999y', null],
    ['someday', null],
  ] as const)
    assert.equal(days(text), expected, text);
  const { chips } = readTyped('created:>2026-01-31 created:<2026-03-01 updated:7d', typist, issueLanguage);
  assert.deepEqual(chipQuery(chips), { created: '>2026-01-31,<2026-03-01', updated: '7d' });
  assert.deepEqual(chips.map(chipText), [
    'created after 2026-01-31',
    'created before 2026-03-01',
    'updated in the last 7 days',
  ]);
});

test('tells what is wrong with a term', () => {
  const problems = (text: string, isOfRequests = false) =>
    (isOfRequests ? readTyped(text, typist, requestLanguage) : readTyped(text, typist, issueLanguage))
      .problems;
  for (const [text, problem] of [
    ['labl:bug', /Unknown filter “labl”. The filters are label, .*put it in quotes/],
    ['constructor:x', /Unknown filter “constructor”/],
    ['reviewer:me', /Unknown filter “reviewer”/],
    ['due:someday', /“due:someday” is not a filter. After “due:”, write none, late, /],
    ['created:2026-02-30', /After “created:”, write 2026-01-31, >2026-01-31/],
    ['is:merged', /After “is:”, write open, opened, closed, all, confidential/],
    ['confidential:maybe', /write yes or no/],
    ['-due:late', /“due” cannot be excluded/],
    ['assignee:none,bob', /write a user name/],
    ['label:a,b label:c,d', /Alternatives with commas can be given once/],
  ] as const)
    assert.match(problems(text).join(' '), problem, text);
  assert.match(problems('approved-by:ada,bob', true).join(' '), /repeat it/);
  assert.deepEqual(problems('label:a,b crash "labl:bug" https://a.b std::vector'), []);
});

test('searches for what is no term', () => {
  assert.deepEqual(read('load  case label:bug'), { labels: 'bug', search: 'load case' });
  assert.deepEqual(read('"due:someday" std::vector https://a.b'), {
    search: 'due:someday std::vector https://a.b',
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
    readTyped('label:BUG label:x milestone:1.5 case', { ...typist, me: null }, issueLanguage).chips,
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
