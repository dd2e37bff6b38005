import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLine } from './log.ts';

const at = { time: Date.parse('2026-01-05T10:00:00.123Z'), level: 30 };
const line = (fields: object): string => formatLine(JSON.stringify({ ...at, ...fields }));

test('prints a line for people: time, level, message and fields', () => {
  assert.equal(
    line({ msg: 'listening', url: 'http://127.0.0.1:8080', note: 'two words' }),
    '10:00:00.123 info  listening url=http://127.0.0.1:8080 note="two words"\n',
  );
  const request = { msg: 'request', method: 'GET', route: '/users/:id', status: 200, ms: 1.25, ip: '::1' };
  assert.equal(line(request), '10:00:00.123 info  200 GET /users/:id 1.25 ms\n');
});

test('prints the stack of an error below its line', () => {
  assert.equal(
    line({
      level: 50,
      msg: 'work failed',
      work: 'deliver',
      err: { message: 'no', stack: 'Error: no\n    at x' },
    }),
    '10:00:00.123 error work failed work=deliver\n    Error: no\n        at x\n',
  );
});

test('colors levels and statuses with the paint that it is handed', () => {
  const painted = formatLine(
    JSON.stringify({ ...at, msg: 'request', method: 'GET', route: '/', status: 500, ms: 1 }),
    (color, text) => `<${color}>${text}</>`,
  );
  assert.match(painted, /<green>info <\/> <red>500<\/> GET \/ <dim>1 ms<\/>/);
});

test('replaces control characters of others', () => {
  const printed = line({ msg: 'failed', a: '\u001b[2J', err: { stack: 'Error: \u001b]0;x\u0007 \u009b2J' } });
  assert.doesNotMatch(printed.replaceAll('\n', ''), /\p{Cc}/u);
});
