/** A tick in a rendered text changes the task that was shown, and no other character. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toggleTask } from '../../../planning/issuables/text/tasks.ts';
import { convert } from './convert.ts';

/** Line and state of each checkbox of a text. */
const readBoxes = (text: string): [number, boolean][] => {
  const options = { project: null, ref: null, path: null, baseUrl: '', isAbsolute: false };
  const [html] = convert(text, { ...options, diagramServer: null, imageKey: null, hasReferences: false });
  assert.ok(typeof html === 'string');
  const boxes = html.matchAll(/data-line="(\d+)" disabled( checked)?>/g);
  return [...boxes].map(([, line, ticked]) => [Number(line), ticked !== undefined]);
};

test('toggles each task of a text', () => {
  const text =
    'a\r\n\r\n- [ ] one\r\n  1. [x] two [ ]\r\n\r\n> * [X] three\n\n- - [ ] four\n+ [ ]\tfive\0\n-\n  [ ] six\n';
  const boxes = readBoxes(text);
  assert.equal(boxes.length, 6);
  for (const [at, [line, isTicked]] of boxes.entries()) {
    const toggled = toggleTask(text, line);
    assert.ok(toggled !== null && toggled.length === text.length, String(line));
    const states = readBoxes(toggled).map(([, state]) => state);
    assert.deepEqual(
      states,
      boxes.map(([, state], index) => (index === at ? !isTicked : state)),
    );
  }
});

test('changes no line that is no task', () => {
  for (const line of [1, -1, 0.5, 9]) assert.equal(toggleTask('- [ ] one', line), null);
  for (const text of ['', 'new', '- [y] one', '- x [ ] y', '-[ ] one', '- [ ]one']) {
    assert.equal(toggleTask(text, 0), null, text);
  }
});
