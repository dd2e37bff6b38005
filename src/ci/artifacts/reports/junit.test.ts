import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestCase, readJunit } from './junit.ts';
import { XmlFault } from './xml.ts';

const one = (more: Partial<TestCase> = {}): TestCase => ({
  status: 'success',
  name: 'adds',
  classname: 'Sum',
  file: null,
  execution_time: 0,
  system_output: null,
  ...more,
});

const wrapped = (inner: string) => `<testsuite><testcase name="adds" classname="Sum"${inner}</testsuite>`;

test('reads the cases of all nested suites in order', () => {
  const text = `\u{feff}<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE testsuites [ <!ENTITY a "aaaa"> ]>
<!-- made by a program -->
<testsuites name="all" time='3'>
  <testsuite name="outer"><properties><property name="x" value="a > b"/></properties>
    <testsuite name="inner"><testcase classname="Sum" name="adds" time="1,000.5" file="sum.ts"/></testsuite>
    <testcase classname="Sum" name="a &lt;b&gt; &#233;&#x1F600; &amp;lt; &a;" time="x"></testcase>
  </testsuite>
  <testsuite/>
</testsuites>`;
  assert.deepEqual(readJunit(text), [
    one({ execution_time: 1000.5, file: 'sum.ts' }),
    one({ name: 'a <b> é😀 &lt; &a;' }),
  ]);
});

test('keeps the text of a failure, an error and a skip', () => {
  const said = (inner: string) => {
    const [{ status, system_output } = one()] = readJunit(wrapped(`>${inner}</testcase>`));
    return [status, system_output];
  };
  assert.deepEqual(said('<failure message="1 is not 2">at a.ts:3</failure>'), [
    'failed',
    '1 is not 2\nat a.ts:3',
  ]);
  assert.deepEqual(said('<failure message="no">Error: no\n at</failure>'), ['failed', 'Error: no\n at']);
  assert.deepEqual(said('<error><![CDATA[<b> & c]]></error>'), ['error', '<b> & c']);
  assert.deepEqual(said('<skipped message="later"/>'), ['skipped', 'later']);
  assert.deepEqual(said('<skipped/>'), ['skipped', null]);
  assert.deepEqual(said('<skipped/><system-out>words</system-out><failure>x</failure>'), ['failed', 'x']);
  assert.deepEqual(said('<failure>x</failure><error>y</error>'), ['failed', 'x']);
  assert.deepEqual(said('<system-err>words</system-err>'), ['success', null]);
});

test('reads several concatenated documents as one report', () => {
  const text = `<?xml version="1.0"?>${wrapped('/>')}\n<?xml version="1.0"?>${wrapped('/>')}`;
  assert.equal(readJunit(text).length, 2);
  assert.deepEqual(readJunit(''), []);
});

test('keeps terminal escapes in the output of a failure', () => {
  const [{ system_output } = one()] = readJunit(wrapped('><failure>\u{1b}[31mred</failure></testcase>'));
  assert.equal(system_output, '\u{1b}[31mred');
});

test('names the line of an XML error', () => {
  const wrong: [string, RegExp][] = [
    ['not XML', /text outside of all elements at line 1/],
    ['<a>\n<b></a>', /<\/a> closes an element that is not open at line 2/],
    ['<a>', /<a> is not closed/],
    ['<a b=c/>', /<a> has no end/],
    ['<a b="<"/>', /<a> has no end/],
    ['<!-- x', /<!-- has no end/],
    ['<a><![CDATA[x</a>', /has no end/],
    ['<!DOCTYPE a [ <!ENTITY b "c"', /a declaration has no end/],
    ['< a/>', /a tag has no name/],
    ['<a>'.repeat(101), /too many elements in each other/],
    [`<a ${Array.from({ length: 101 }, (_, at) => `b${at}="" `).join('')}/>`, /too many attributes/],
  ];
  for (const [text, message] of wrong) {
    assert.throws(
      () => readJunit(text),
      (error) => error instanceof XmlFault && message.test(error.message),
      text,
    );
  }
});

test('refuses a report with too many cases', () => {
  const text = `<t>${'<testcase/>'.repeat(100_001)}</t>`;
  assert.throws(() => readJunit(text), RangeError);
});

test('reports unterminated declarations, and scans each only once', () => {
  for (const text of ['<a/><!x [>', '<a/><!x [ ] ', '<!', '<!DOCTYPE a [ <!ENTITY b "c"> ', '<a/><!x [>]'])
    assert.throws(() => readJunit(text), XmlFault, text);
  assert.deepEqual(readJunit('<!x>'.repeat(500_000)), []);
});
