import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type AppendFiles, openAppendFiles } from '../blob/append_files.ts';
import { coverageOf } from './coverage.ts';

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
  const job = { project_id: 1, id: (last += 1) };
  await traces.append(job, 0, Buffer.from(trace));
  return await coverageOf({ traces }, job, expression);
};

const total = '/Total: (\\d+\\.?\\d*)%/';

test('the last line that says it counts', async () => {
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

test('colours, times and cut lines are read over', async () => {
  const at = '2026-11-21T03:00:00.123456Z';
  assert.equal(await coverage('\x1b[32mTotal\x1b[0;m: \x1b[1m7\x1b[0m%\n', total), 700);
  assert.equal(await coverage(`${at} 00O Total: 8%\n${at} 01O next\n`, total), 800);
  assert.equal(await coverage(`${at} 00O Tot\n${at} 00O+al: 9%\n${at} 00O end\n`, total), 900);
  assert.equal(await coverage(`${at} 00O+Total: 4%\n`, total), 400);
});

test('of a long trace, wherever its blocks end', async () => {
  const noise = 'x'.repeat(99);
  for (const lines of [655, 656, 1_400]) {
    const rest = `${noise}\n`.repeat(lines);
    assert.equal(await coverage(`Total: 3%\n${rest}`, total), 300);
    assert.equal(await coverage(`${rest}Total: 3%\n${rest}`, total), 300);
  }
  assert.equal(await coverage(`Total: 2% ${'y'.repeat(1_000_000)}\nend`, total), 200);
});

test('an expression that would take for ever takes no time', async () => {
  assert.equal(await coverage(`${'a'.repeat(60_000)}!\nTotal: 1%`, '/(a+)+$|Total: (\\d+)%/'), 100);
});

test('without a trace there is none', async () => {
  assert.equal(await coverageOf({ traces }, { project_id: 9, id: 9 }, total), null);
});

test('a pattern that costs too much of what it is held against says nothing, and holds up nobody', async () => {
  const groups = `/${'(x?)'.repeat(240)}/`;
  assert.equal(await coverage('x'.repeat(60_000), groups), null);
  assert.equal(await coverage(`Total: 7%\n${'xy '.repeat(20_000)}\n`.repeat(20), groups), null);
  // The end of a line is looked at, whatever stands before.
  assert.equal(await coverage(`${'x'.repeat(60_000)}Total: 7%`, total), 700);
});
