import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type AppendFiles, openAppendFiles } from '../../../platform/blob/append_files.ts';
import { readCoverage } from './coverage.ts';

let root: string;
let traces: AppendFiles;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  traces = await openAppendFiles(join(root, 'traces'));
});
after(async () => {
  await traces.close();
  await rm(root, { recursive: true, force: true });
});

let last = 0;
const coverage = async (trace: string, expression: string): Promise<number | null> => {
  const job = { project_id: 1, id: (last += 1), trace_key: null };
  await traces.append(job, 0, Buffer.from(trace));
  return await readCoverage({ traces }, job, expression);
};

const total = '/Total: (\\d+\\.?\\d*)%/';

test('reads the last line that matches', async () => {
  const cases: [trace: string, expression: string, hundredths: number | null][] = [
    ['Total: 12%\nTotal: 98.765%\nend\n', total, 9_877],
    ['Total: 12% Total: 13%', total, 1_300],
    ['Total: 100%', total, 10_000],
    ['Total: 0%', total, 0],
    ['covered (47.5 of 100)\r\n', '/covered \\(\\d+\\.\\d+/', 4_750],
    ['COVERED 5', '/covered \\d+/i', 500],
    ['nothing here\n', total, null],
    ['', total, null],
    ['word\nTotal: no number', '/Total: .*/', null],
    ['Total: 5\nTotal: none', '/Total: .*/', 500],
    ['Total: 5%', 'Total', null],
    ['Total: 5%', '/(/', null],
    ['a 1 b 2', '/a (\\d) b (\\d)/', 200],
  ];
  for (const [trace, expression, hundredths] of cases) {
    assert.equal(await coverage(trace, expression), hundredths, trace);
  }
});

test('ignores colors, timestamps and line breaks of the runner', async () => {
  const at = '2026-11-21T03:00:00.123456Z';
  assert.equal(await coverage('\x1b[32mTotal\x1b[0;m: \x1b[1m7\x1b[0m%\n', total), 700);
  assert.equal(await coverage(`${at} 00O Total: 8%\n${at} 01O next\n`, total), 800);
  assert.equal(await coverage(`${at} 00O Tot\n${at} 00O+al: 9%\n${at} 00O end\n`, total), 900);
  assert.equal(await coverage(`${at} 00O+Total: 4%\n`, total), 400);
});

test('reads a long trace across its blocks', async () => {
  const noise = 'x'.repeat(99);
  for (const lines of [655, 656, 1_400]) {
    const rest = `${noise}\n`.repeat(lines);
    assert.equal(await coverage(`Total: 3%\n${rest}`, total), 300);
    assert.equal(await coverage(`${rest}Total: 3%\n${rest}`, total), 300);
  }
  assert.equal(await coverage(`Total: 2% ${'y'.repeat(1_000_000)}\nend`, total), 200);
});

test('matches a catastrophic expression in linear time', async () => {
  assert.equal(await coverage(`${'a'.repeat(60_000)}!\nTotal: 1%`, '/(a+)+$|Total: (\\d+)%/'), 100);
});

test('finds no coverage without a trace', async () => {
  assert.equal(await readCoverage({ traces }, { project_id: 9, id: 9, trace_key: null }, total), null);
});

test('finds no coverage for a pattern that costs too much, and delays nobody', async () => {
  const groups = `/${'(x?)'.repeat(240)}/`;
  assert.equal(await coverage('x'.repeat(60_000), groups), null);
  assert.equal(await coverage(`Total: 7%\n${'xy '.repeat(20_000)}\n`.repeat(20), groups), null);
  // Only the end of a long line is searched.
  assert.equal(await coverage(`${'x'.repeat(60_000)}Total: 7%`, total), 700);
});
