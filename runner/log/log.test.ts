/** Tests the content of a job's log, in the order that gitlab-runner uses. */
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import {
  type Coordinator,
  type OfferedJob,
  type ReceivedJob,
  startCoordinator,
} from '../../test/support/servers/runner_coordinator.ts';
import { type TestRunner, startTestRunner } from '../../test/support/ci/runner_process.ts';
import { until } from '../../test/support/until.ts';
import { makeTimestamper } from './line_timestamps.ts';
import { makeOutput } from './script_output.ts';

let coordinator: Coordinator;
let runner: TestRunner;
before(async () => {
  coordinator = await startCoordinator();
  runner = await startTestRunner({ url: coordinator.url });
});
after(async () => {
  await runner.close();
  await coordinator.close();
});

const run = async (job: OfferedJob): Promise<{ heard: ReceivedJob; lines: string[] }> => {
  const heard = coordinator.add(job);
  await until(`job ${heard.id} has ended`, () => heard.ended !== null);
  return { heard, lines: readable(heard.trace.toString()) };
};

/** Removes colors and puts each section marker on its own line. */
const readable = (log: string): string[] =>
  log
    .replaceAll(/section_(start|end):\d+:(\w+)\r\u001B\[0K/g, '<$1 $2>\n') // oxlint-disable-line no-control-regex -- of terminals
    .replaceAll(/\u001B\[[\d;]*[mK]/g, '') // oxlint-disable-line no-control-regex -- of terminals
    .split('\n')
    .filter((line) => line !== '');

const zip = { artifact_type: 'archive', artifact_format: 'zip', paths: ['out'], when: 'always' };

describe('a log', () => {
  it('has a section for each stage, and ends with the result', async () => {
    const { lines } = await run({
      script: ['echo x >out; echo said', 'exit 3'],
      after: ['echo after', 'exit 2'],
      artifacts: [zip],
      cache: [{ key: 'k', paths: ['out'], when: 'always' }],
      variables: [{ key: 'CI_RUNNER_DESCRIPTION', value: 'the runner' }],
    });
    const shown = lines.map((line) => line.replace(/\br_[0-9a-f]+|(?<=Running on ).*/, '*'));
    assert.deepEqual(
      shown.filter((line) => !line.startsWith('Runs as a plain')),
      [
        'Running with gantry-runner test',
        '  on the runner, system ID: *',
        '<start prepare_executor>',
        'Preparing the "shell" executor',
        '<end prepare_executor>',
        '<start prepare_script>',
        'Preparing environment',
        'Running on *',
        '<end prepare_script>',
        '<start get_sources>',
        'Getting source from Git repository',
        'Skipping Git repository setup and creating an empty build directory',
        '<end get_sources>',
        '<start restore_cache>',
        'Restoring cache',
        'Checking cache for k...',
        'No cache is there yet',
        '<end restore_cache>',
        '<start step_script>',
        'Executing "step_script" stage of the job script',
        '$ echo x >out; echo said',
        'said',
        '$ exit 3',
        '<end step_script>',
        '<start after_script>',
        'Running after_script',
        'Running after script...',
        '$ echo after',
        'after',
        '$ exit 2',
        'WARNING: after_script failed, but job will continue unaffected: exit code 2',
        '<end after_script>',
        '<start archive_cache_on_failure>',
        'Saving cache for failed job',
        'Creating cache k...',
        'out: found 1 matching files and directories',
        'Created cache',
        '<end archive_cache_on_failure>',
        '<start upload_artifacts_on_failure>',
        'Uploading artifacts for failed job',
        'Uploading artifacts...',
        'out: found 1 matching artifact files and directories',
        'Uploading artifacts as "archive" to coordinator... 201 Created',
        '<end upload_artifacts_on_failure>',
        '<start cleanup_file_variables>',
        'Cleaning up project directory and file based variables',
        '<end cleanup_file_variables>',
        'ERROR: Job failed: exit code 3',
      ],
    );
  });
  it('the log of a failed job ends with the reason', async () => {
    assert.equal((await run({})).lines.at(-1), 'Job succeeded');
    const slow = await run({ script: ['sleep 100'], timeout: 1 });
    assert.equal(slow.lines.at(-1), 'ERROR: Job failed: execution took longer than 1s seconds');
    assert.equal(slow.heard.ended?.failure_reason, 'job_execution_timeout');
    const heard = coordinator.add({ script: ['echo ready', 'sleep 100'], after: ['true'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    heard.status = 'canceling';
    await until('it has ended', () => heard.ended !== null);
    assert.equal(readable(heard.trace.toString()).at(-1), 'ERROR: Job failed: canceled');
    const refused = await run({ variables: [{ key: 'GIT_STRATEGY', value: 'other' }] });
    assert.match(refused.lines.at(-1) ?? '', /^ERROR: Job failed \(system failure\): unknown GIT_STRATEGY/);
  });
  it('follows the time limits that a job sets for its scripts', async () => {
    const limit = (key: string) => [{ key, value: '1s' }];
    const script = await run({
      script: ['sleep 100'],
      after: ['echo "it $CI_JOB_STATUS"'],
      variables: limit('RUNNER_SCRIPT_TIMEOUT'),
    });
    assert.equal(script.heard.ended?.failure_reason, 'job_execution_timeout');
    assert.ok(script.lines.includes('it failed'));
    const later = await run({ after: ['sleep 100'], variables: limit('RUNNER_AFTER_SCRIPT_TIMEOUT') });
    assert.equal(later.heard.ended?.state, 'success');
    assert.ok(later.lines.some((line) => line.endsWith('continue unaffected: it took too long')));
    const days = { script: ['sleep 0.2'], timeout: 30 * 86_400 };
    const long = await run({ ...days, variables: [{ key: 'RUNNER_SCRIPT_TIMEOUT', value: '700h' }] });
    assert.equal(long.heard.ended?.state, 'success');
  });
  it('has the time and the stream of each line where FF_TIMESTAMPS is on', async () => {
    const script = [
      String.raw`printf 'one\n10 %%\r20 %%\n\n%s' "$WORD"`,
      String.raw`printf 'section_start:1:own\r'`,
    ];
    const word = { key: 'WORD', value: 'unguessable', masked: true };
    const { heard } = await run({ script, variables: [{ key: 'FF_TIMESTAMPS', value: 'true' }, word] });
    const lines = heard.trace.toString().trimEnd().split('\n');
    const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z 0[01]O[ +]/;
    for (const line of lines) assert.match(line, form);
    const at = lines.findIndex((line) => line.includes('Executing'));
    const bare = (line: string): string => readable(line.slice(28)).join(' ');
    assert.deepEqual(lines.slice(at, at + 9).map(bare), [
      '00O <end get_sources> <start step_script> Executing "step_script" stage of the job script',
      `01O $ ${script[0]}`,
      '01O one',
      '01O 10 %\r20 %',
      '01O ',
      `01O [MASKED]$ ${script[1]}`,
      '01O section_start:1:own\r',
      '01O <end own>',
      // What the runner writes continues the line of the script.
      '00O+<end step_script> <start cleanup_file_variables> Cleaning up project directory and file based variables',
    ]);
    const last = lines.at(-1) ?? '';
    assert.match(last, /Z 00O [^]*Job succeeded/);
    const { heard: other } = await run({ variables: [{ key: 'FF_TIMESTAMPS', value: 'no' }] });
    assert.match(other.trace.toString(), /^(?:\S*?)Running with/);
  });
  it('renames sections of a job that imitate those of the runner', async () => {
    const mark = String.raw`printf 'section_%s:1:%s\r\e[0K'`;
    const { lines } = await run({
      script: [
        `${mark} end step_script; ${mark} start after_script; ${mark} start own; printf '\\e[8mno end'`,
      ],
    });
    const printed = lines.slice(lines.findIndex((line) => line.startsWith('$ ')) + 1);
    assert.deepEqual(printed.slice(0, 7), [
      '<end job_step_script>',
      '<start job_after_script>',
      '<start own>',
      'no end',
      '<end job_after_script>',
      '<end own>',
      '<end step_script>',
    ]);
  });
});

it('the output of a job is the same however it is split', () => {
  const text =
    'a section_start:12:step_script[collapsed=true]\r\u001B[0Kx section_end:1:own\ns se section_ y';
  const pass = (size: number): string => {
    const shown: Buffer[] = [];
    const output = makeOutput((bytes) => void shown.push(bytes));
    for (let at = 0; at < text.length; at += size) output.write(Buffer.from(text.slice(at, at + size)));
    output.end();
    return Buffer.concat(shown)
      .toString()
      .replaceAll(/:\d{5,}:/g, ':now:');
  };
  const whole = `${text.replace('12:step', '12:job_step')}\nsection_end:now:job_step_script\r\u001B[0K`;
  for (const size of [1, 2, 3, 7, 1_000]) assert.equal(pass(size), whole);
});

it('timestamps of lines are the same however the text is split, and streams keep theirs', () => {
  const stamped = (pieces: readonly [string, 'runner' | 'script'][]): string => {
    const stamp = makeTimestamper(() => Date.UTC(2026, 10, 27, 9, 42, 57, 123));
    return Buffer.concat(pieces.map(([text, stream]) => stamp(Buffer.from(text), stream))).toString();
  };
  const time = '2026-11-27T09:42:57.123000Z';
  const whole = `${time} 01O a\n${time} 01O \n${time} 01O b\rc\n`;
  assert.equal(stamped([['a\n\nb\rc\n', 'script']]), whole);
  const single = ['a', '\n', '\n', 'b', '\r', 'c', '\n'];
  assert.equal(stamped(single.map((one) => [one, 'script'])), whole);
  assert.equal(
    stamped([
      ['begun', 'script'],
      ['', 'runner'],
      ['ended\nnext', 'runner'],
      ['', 'runner'],
    ]),
    `${time} 01O begun\n${time} 00O+ended\n${time} 00O next`,
  );
});
