import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import * as text from './system_note_text.ts';

describe('stateText', () => {
  it('the note says which state the record changed to', () => {
    assert.equal(text.stateText('opened', 'closed'), 'closed');
    assert.equal(text.stateText('closed', 'opened'), 'reopened');
    assert.equal(text.stateText('opened', 'merged'), 'merged');
    assert.equal(text.stateText('locked', 'merged'), 'merged');
  });

  it('the note of a closed record names the commit or merge request that closed it', () => {
    const by = { merge_request_iid: 3 };
    assert.equal(text.stateText('opened', 'closed', by), 'closed via merge request !3');
    const other = { ...by, project: 'group/proj' };
    assert.equal(text.stateText('opened', 'closed', other), 'closed via merge request group/proj!3');
    assert.equal(text.stateText('opened', 'closed', { sha: 'abc123' }), 'closed via commit abc123');
  });

  it('is silent when nothing changed or a lock comes and goes', () => {
    assert.equal(text.stateText('closed', 'closed', { sha: 'abc123' }), null);
    assert.equal(text.stateText('opened', 'locked'), null);
    assert.equal(text.stateText('locked', 'opened'), null);
  });
});

describe('titleText', () => {
  const rows: [string, string, string][] = [
    ['Old title', 'New one', '**{-Old titl-}e** to **{+New on+}e**'],
    ['Lorem', 'Ipsu', '**{-Lorem-}** to **{+Ipsu+}**'],
    ['Fix tpyo here', 'Fix typo here', '**Fix t{-py-}o here** to **Fix t{+yp+}o here**'],
    ['Fix', 'Fix it', '**Fix** to **Fix{+ it+}**'],
    ['Fix it', 'Fix', '**Fix{- it-}** to **Fix**'],
    ['it', 'Fix it', '**it** to **{+Fix +}it**'],
    ['aa', 'aaa', '**aa** to **aa{+a+}**'],
    ['a😀b', 'a😁b', '**a{-😀-}b** to **a{+😁+}b**'],
  ];
  for (const [before, now, expected] of rows) {
    it(`marks ${before} -> ${now}`, () => {
      assert.equal(text.titleText(before, now), `changed title from ${expected}`);
    });
  }

  it('is silent when the title is the same', () => assert.equal(text.titleText('a', 'a'), null));

  it('shows both titles whole, with as little as possible between the marks', () => {
    const title = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(title, title, (before, now) => {
        fc.pre(before !== now);
        const shown = /^changed title from \*\*(.*)\*\* to \*\*(.*)\*\*$/u.exec(
          text.titleText(before, now) ?? '',
        );
        const [, old = '', next = ''] = shown ?? [];
        assert.equal(old.replace(/\{-(.*)-\}/, '$1'), before);
        assert.equal(next.replace(/\{\+(.*)\+\}/, '$1'), now);
        const gone = [...(/\{-(.*)-\}/.exec(old)?.[1] ?? '')];
        const come = [...(/\{\+(.*)\+\}/.exec(next)?.[1] ?? '')];
        if (gone.length === 0 || come.length === 0) return;
        assert.notEqual(gone[0], come[0]);
        assert.notEqual(gone.at(-1), come.at(-1));
      }),
    );
  });
});

describe('mergeRequestTitleText and workInProgressText', () => {
  it('notes of a merge request distinguish a new title from a new draft state', () => {
    assert.equal(text.mergeRequestTitleText('Fix', 'WIP: Fix'), null);
    assert.equal(text.workInProgressText('Fix', 'WIP: Fix'), 'marked as a **Work In Progress**');
    assert.equal(text.mergeRequestTitleText('Draft: Fix', 'Fix'), null);
    assert.equal(text.workInProgressText('Draft: Fix', 'Fix'), 'unmarked as a **Work In Progress**');
    assert.equal(text.workInProgressText('Draft: Fix', 'WIP: Fix'), null);
    assert.equal(text.workInProgressText('Fix', 'Fix it'), null);
  });

  it('notes of a merge request name a new title and a new draft state', () => {
    const expected = 'changed title from **{-A-}** to **{+WIP: B+}**';
    assert.equal(text.mergeRequestTitleText('A', 'WIP: B'), expected);
    assert.equal(text.workInProgressText('A', 'WIP: B'), 'marked as a **Work In Progress**');
  });
});

describe('descriptionText', () => {
  const changed = 'changed the description';
  const rows: [string | null, string | null, string | null][] = [
    ['a', 'b', changed],
    [null, 'a', changed],
    ['a', null, changed],
    ['a', 'a', null],
    [null, '', null],
    ['a\nb', 'a\r\nb', changed],
    ['- [ ] x', '- [x] x', 'marked the task **x** as completed'],
    ['- [x] x', '- [ ] x', 'marked the task **x** as incomplete'],
    [
      'a\n\n* [ ] one\n* [ ] two words \n',
      'a\n\n* [ ] one\n* [X] two words \n',
      'marked the task **two words** as completed',
    ],
    ['a\n- [ ] one', 'a\r\n- [x] one', 'marked the task **one** as completed'],
    ['1. [ ] one', '1. [x] one', 'marked the task **one** as completed'],
    ['> - [ ] one', '> - [x] one', 'marked the task **one** as completed'],
    ['  + [ ] one\n', '  + [x] one\r\n', 'marked the task **one** as completed'],
    ['- [ ] one\n- [ ] two', '- [x] one\n- [x] two', changed],
    ['- [ ] one\na', '- [x] one\nb', changed],
    ['- [ ] one', '- [x] two', changed],
    ['- [ ] one', '- [x] one\n', changed],
    ['- [x] one', '- [X] one', changed],
    ['- [ ] ', '- [x] ', changed],
    ['- [ ]one', '- [x]one', changed],
    ['[ ] one', '[x] one', changed],
    ['- [-] one', '- [x] one', changed],
  ];
  for (const [before, now, expected] of rows) {
    it(`tells ${JSON.stringify(before)} -> ${JSON.stringify(now)}`, () => {
      assert.equal(text.descriptionText(before, now), expected);
    });
  }

  it('the note of a description compares a mebibyte in linear time', () => {
    for (const piece of [' ', '>', '\n', '- [ ] a\n', '1', 'a']) {
      const body = piece.repeat(2 ** 20 / piece.length);
      assert.equal(text.descriptionText(body, `${body}x`), changed);
    }
  });
});

describe('issueAssigneesText', () => {
  const rows: [string[], string[], string | null][] = [
    [[], [], null],
    [['a', 'b'], ['b', 'a'], null],
    [[], ['a'], 'assigned to @a'],
    [[], ['a', 'b'], 'assigned to @a and @b'],
    [[], ['a', 'b', 'c'], 'assigned to @a, @b, and @c'],
    [['b'], ['a'], 'assigned to @a and unassigned @b'],
    [['a'], ['a', 'b'], 'assigned to @b'],
    [['a', 'b'], ['a'], 'unassigned @b'],
    [['a', 'b', 'c'], ['d'], 'assigned to @d and unassigned @a, @b, and @c'],
    [['a'], [], 'removed assignee'],
    [['a', 'b'], [], 'removed assignee'],
  ];
  for (const [before, now, expected] of rows) {
    it(`tells ${JSON.stringify(before)} -> ${JSON.stringify(now)}`, () =>
      assert.equal(text.issueAssigneesText(before, now), expected));
  }
});

describe('labelsText', () => {
  const rows: [number[], number[], string | null][] = [
    [[], [], null],
    [[1, 2], [2, 1], null],
    [[], [1], 'added ~1 label'],
    [[], [1, 2], 'added ~1 ~2 labels'],
    [[2], [1], 'added ~1 and removed ~2 labels'],
    [[2], [], 'removed ~2 label'],
    [[1, 2, 3], [3], 'removed ~1 ~2 labels'],
    [[1, 2], [2, 3, 4], 'added ~3 ~4 and removed ~1 labels'],
  ];
  for (const [before, now, expected] of rows) {
    it(`tells ${JSON.stringify(before)} -> ${JSON.stringify(now)}`, () =>
      assert.equal(text.labelsText(before, now), expected));
  }
});

describe('the texts of single values', () => {
  it('tells the assignee of a merge request', () => {
    assert.equal(text.mergeRequestAssigneeText(null, 'a'), 'assigned to @a');
    assert.equal(text.mergeRequestAssigneeText('b', 'a'), 'assigned to @a');
    assert.equal(text.mergeRequestAssigneeText('a', null), 'removed assignee');
    assert.equal(text.mergeRequestAssigneeText('a', 'a'), null);
  });

  it('the note names the new or removed milestone', () => {
    assert.equal(text.milestoneText(null, 1), 'changed milestone to %1');
    assert.equal(text.milestoneText(1, 2), 'changed milestone to %2');
    assert.equal(text.milestoneText(1, null), 'removed milestone');
    assert.equal(text.milestoneText(1, 1), null);
  });

  it('the note says whether the record is confidential', () => {
    assert.equal(text.confidentialText(false, true), 'made the issue confidential');
    assert.equal(text.confidentialText(true, false), 'made the issue visible to everyone');
    assert.equal(text.confidentialText(true, true), null);
  });

  it('the note names the new or removed time estimate', () => {
    assert.equal(text.timeEstimateText(0, 104400), 'changed time estimate to 3d 5h');
    assert.equal(text.timeEstimateText(104400, 0), 'removed time estimate');
    assert.equal(text.timeEstimateText(60, 60), null);
  });

  it('the note names the time spent, or that it was removed', () => {
    assert.equal(text.timeSpentText(9000), 'added 2h 30m of time spent');
    assert.equal(text.timeSpentText(1), 'added 1s of time spent');
    assert.equal(text.timeSpentText(-3600), 'subtracted 1h of time spent');
    assert.equal(text.timeSpentText(0), null);
    assert.equal(text.timeSpentResetText(9000), 'removed time spent');
    assert.equal(text.timeSpentResetText(0), null);
  });

  it('the notes of a move name the other project', () => {
    assert.equal(text.movedToText('group/proj', 11), 'moved to group/proj#11');
    assert.equal(text.movedFromText('group/proj', 3), 'moved from group/proj#3');
  });

  it('the note names the old and the new target branch', () => {
    assert.equal(text.targetBranchText('a', 'b'), 'changed target branch from `a` to `b`');
    assert.equal(text.targetBranchText('a', 'a'), null);
  });
});
