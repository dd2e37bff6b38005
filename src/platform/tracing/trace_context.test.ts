import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTraceparent, parseTraceparent } from './trace_context.ts';

const [trace_id, span_id] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

test('reads and writes the header of the W3C', () => {
  const context = { trace_id, span_id, isSampled: true };
  assert.deepEqual(parseTraceparent(`00-${trace_id}-${span_id}-01`), context);
  assert.deepEqual(parseTraceparent(`00-${trace_id}-${span_id}-00`), { ...context, isSampled: false });
  assert.deepEqual(parseTraceparent(`01-${trace_id}-${span_id}-03-more`), context, 'a later version');
  assert.equal(formatTraceparent({ ...context, parent_id: null }), `00-${trace_id}-${span_id}-01`);
});

test('ignores what is no such header', () => {
  for (const header of [
    undefined,
    '',
    ['00'],
    `00-${trace_id}-${span_id}`,
    `ff-${trace_id}-${span_id}-01`,
    `00-${trace_id}-${span_id}-01-more`,
    `00-${'0'.repeat(32)}-${span_id}-01`,
    `00-${trace_id}-${'0'.repeat(16)}-01`,
    `00-${trace_id.toUpperCase()}-${span_id}-01`,
  ])
    assert.equal(parseTraceparent(header), null, String(header));
});
