/** Tests the runner as its coordinator sees it, with real processes and scripts. */
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import {
  type Coordinator,
  type OfferedJob,
  type ReceivedJob,
  startCoordinator,
} from '../test/support/servers/runner_coordinator.ts';
import { until } from '../test/support/until.ts';
import { makeGroup } from './executors/cgroup.ts';
import { usualLimits } from './executors/process_limits.ts';
import {
  type TestRunner,
  listLeftoverProcesses,
  startTestRunner,
} from '../test/support/ci/runner_process.ts';

const group = makeGroup('test', usualLimits);
const noGroups = group === null ? 'no control group can be made here' : false;
await group?.kill();

let coordinator: Coordinator;
let runner: TestRunner;
before(async () => {
  coordinator = await startCoordinator();
  runner = await startTestRunner({ url: coordinator.url, log_limit: 100_000 });
});
after(async () => {
  await runner.close();
  await coordinator.close();
  assert.deepEqual(listLeftoverProcesses(runner.folder), []);
});

const ended = async (heard: ReceivedJob): Promise<string> => {
  await until(`job ${heard.id} has ended`, () => heard.ended !== null);
  return heard.trace.toString();
};
const run = async (
  job: OfferedJob,
): Promise<{ heard: ReceivedJob; log: string; state: string | undefined }> => {
  const heard = coordinator.add(job);
  const log = await ended(heard);
  return { heard, log, state: heard.ended?.state };
};
const escape = '\u001B';
const ofRunner = /^(?:section_|<ESC>|Skipping|Running|Runs )/;
const readable = (log: string): string => log.replaceAll(escape, '<ESC>');
/** Returns the output of the scripts, without the runner's own lines. */
const printed = (log: string): string[] =>
  readable(log)
    .split('\n')
    .filter((line) => line !== '' && !ofRunner.test(line));

describe('a script', () => {
  it('runs its lines in one shell, and logs each line first', async () => {
    const { log, state } = await run({ script: ['cd /', 'pwd', 'X=1', 'echo "x is $X"'] });
    assert.equal(state, 'success');
    assert.deepEqual(printed(log), ['/', 'x is 1']);
    assert.match(readable(log), /<ESC>\[32;1m\$ echo "x is \$X"<ESC>\[0;m\nx is 1\n/);
    assert.match(log, /Job succeeded/);
  });
  it('stops at the first line that fails, also within a pipe', async () => {
    const { heard, log } = await run({ script: ['echo one', '(exit 7) | cat', 'echo two'] });
    assert.partialDeepStrictEqual(heard.ended, {
      state: 'failed',
      failure_reason: 'script_failure',
      exit_code: 7,
    });
    assert.deepEqual(printed(log), ['one']);
    assert.match(log, /ERROR: Job failed: exit code 7/);
  });
  it('is followed by after_script in a separate shell, which does not change the result', async () => {
    const { heard, log } = await run({
      script: ['cd /', 'false'],
      after: ['pwd', 'echo "it $CI_JOB_STATUS"', 'false'],
    });
    assert.equal(heard.ended?.exit_code, 1);
    assert.match(log, /\nit failed\n/);
    assert.doesNotMatch(log, /\n\/\n/);
    const fine = await run({ after: ['echo "it $CI_JOB_STATUS"', 'false'] });
    assert.equal(fine.state, 'success');
    assert.match(fine.log, /\nit success\n/);
  });
  it('the log has a section for each part of a job', async () => {
    const { log } = await run({});
    const begun = [...readable(log).matchAll(/section_start:\d+:(\w+)\r<ESC>\[0K/g)].map(([, name]) => name);
    assert.deepEqual(begun, [
      'prepare_executor',
      'prepare_script',
      'get_sources',
      'step_script',
      'cleanup_file_variables',
    ]);
    const over = [...readable(log).matchAll(/section_end:\d+:(\w+)\r<ESC>\[0K/g)].map(([, name]) => name);
    assert.deepEqual(over, begun);
  });
  it('that ends kills its background processes', async () => {
    const { state } = await run({ script: ['sleep 1000 & (setsid sleep 1000 &)', 'true'] });
    assert.equal(state, 'success');
    assert.deepEqual(listLeftoverProcesses(runner.folder), []);
  });
});

it('kills processes that hide from their mark through the control group', { skip: noGroups }, async () => {
  const sleep = `sleep 86399.${process.pid}`; // the other engine's tests may run at the same time
  const { state } = await run({ script: [`(env -i setsid ${sleep} &)`, 'sleep 0.2', 'true'] });
  assert.equal(state, 'success');
  const lines = execFileSync('ps', ['-A', '-o', 'args']).toString();
  assert.ok(!lines.includes(sleep));
});

describe('the environment', () => {
  it('contains no variable of the runner', async () => {
    const { log } = await run({ script: ['export -p | sort', 'echo "home $HOME"; touch "$HOME/x"'] });
    assert.doesNotMatch(log, /TEST|NODE|npm|SUDO|GANTRY_(?!JOB_MARK)/);
    assert.match(log, /home .*\/home\n/);
  });
  it('has the last of equal names, expanded with the final values', async () => {
    const variables = [
      { key: 'A', value: 'one' },
      { key: 'B', value: '$A and ${C} and $$A and $nothing.' },
      { key: 'RAW', value: '$A', raw: true },
      { key: 'A', value: 'two' },
      { key: 'C', value: `it's "quoted"\nand long` },
      { key: 'SELF', value: '$SELF:x' },
      { key: 'UID', value: '12' },
      { key: 'not a name', value: '$(touch /tmp/never)' },
    ];
    const { log, state } = await run({ variables, script: ['echo "<$B> <$RAW> <$SELF>"'] });
    assert.equal(state, 'success');
    assert.match(log, /<two and it's "quoted"\nand long and \$A and \.> <\$A> <:x>/);
  });
  it('has the paths of file variables, which are removed afterwards', async () => {
    const variables = [{ key: 'CONFIG', value: 'line $HOME\n', file: true }];
    const { log } = await run({ variables, script: ['echo "at $CONFIG"', 'cat "$CONFIG"'] });
    assert.match(log, /\nline \$HOME\n/);
    const [, path = ''] = /at (\/\S+)/.exec(log) ?? [];
    const { log: later } = await run({ script: [`ls ${path} || echo gone`] });
    assert.match(later, /\ngone\n/);
  });
});

describe('the log', () => {
  it('shows no secret, however the output is split', async () => {
    const variables = [
      { key: 'SECRET', value: 'hunter2-hunter2', masked: true },
      { key: 'LONG', value: 'first-line-of-it\nsecond-line-of-it', masked: true },
    ];
    const slowly = `for ((i = 0; i < \${#SECRET}; i++)); do printf %s "\${SECRET:i:1}"; sleep 0.03; done; echo`;
    const script = [
      'echo "<$SECRET>"',
      slowly,
      'echo "$LONG"',
      'echo "$CI_JOB_TOKEN"',
      'echo glpat-abcdef123',
    ];
    const { log } = await run({ variables, script });
    for (const secret of ['hunter2', 'first-line', 'second-line', 'token-of-job', 'abcdef123'])
      assert.ok(!printed(log).join('\n').includes(secret), secret);
    assert.match(log, /<\[MASKED\]>/);
    assert.match(log, /glpat-\[MASKED\]/);
  });
  it('is cut at its size limit, and the job continues', async () => {
    const { heard, log, state } = await run({ script: ['head -c 3000000 /dev/zero | tr "\\0" x', 'exit 3'] });
    assert.equal(state, 'failed');
    assert.equal(heard.ended?.exit_code, 3);
    assert.match(log, /Job's log exceeded limit of 100000 bytes\./);
    assert.ok(heard.trace.length < 101_000);
  });
  it('the log arrives while the script runs', async () => {
    const heard = coordinator.add({
      script: ['echo early', 'while [ ! -e "$HOME/go" ]; do sleep 0.05; done'],
      timeout: 20,
    });
    await until('its first line is there', () => heard.trace.includes('\nearly\n'));
    heard.status = 'canceled';
    await until('all is gone', () => listLeftoverProcesses(runner.folder).length === 0);
  });
  it('is sent again if the coordinator lost a part', async () => {
    const heard = coordinator.add({ script: ['for i in $(seq 200); do echo "line $i"; sleep 0.005; done'] });
    await until('some is there', () => heard.trace.includes('line 20\n'));
    heard.trace = heard.trace.subarray(0, 30);
    const log = await ended(heard);
    assert.deepEqual(
      printed(log).filter((line) => line.startsWith('line')),
      Array.from({ length: 200 }, (_, index) => `line ${index + 1}`),
    );
  });
});

describe('an early end', () => {
  const stubborn = [
    'trap "" TERM',
    'setsid bash -c "trap \'\' TERM; while :; do sleep 1; done" &',
    'echo ready',
    'while :; do sleep 1; done',
  ];
  it('by a cancel ends the whole tree, then runs after_script', async () => {
    const heard = coordinator.add({ script: stubborn, after: ['echo "after $CI_JOB_STATUS"'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    heard.status = 'canceling';
    const log = await ended(heard);
    assert.equal(heard.ended?.failure_reason, 'job_canceled');
    assert.match(log, /\nafter canceled\n/);
    assert.deepEqual(listLeftoverProcesses(runner.folder), []);
  });
  it('by an abort kills everything immediately and reports nothing more', async () => {
    const heard = coordinator.add({ script: stubborn, after: ['echo never'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    heard.status = 'canceled';
    await until('all is gone', () => listLeftoverProcesses(runner.folder).length === 0);
    assert.equal((await run({ script: ['echo next'] })).state, 'success');
    assert.equal(heard.ended, null);
    assert.ok(!heard.trace.includes('never'));
  });
  it('a job past its time limit is killed with all its processes', async () => {
    const { heard } = await run({ script: stubborn, timeout: 1 });
    assert.equal(heard.ended?.failure_reason, 'job_execution_timeout');
    assert.deepEqual(listLeftoverProcesses(runner.folder), []);
  });
});

it('a script without output for too long is stopped', async () => {
  await runner.close();
  runner = await startTestRunner({ url: coordinator.url, idle_limit: 1 });
  const { heard } = await run({
    script: ['for i in $(seq 8); do echo; sleep 0.25; done', 'echo then', 'sleep 1000'],
  });
  assert.equal(heard.ended?.failure_reason, 'job_execution_timeout');
  assert.ok(heard.trace.includes('\nthen\n'));
  await runner.close();
  runner = await startTestRunner({ url: coordinator.url });
});

describe('an unreachable coordinator', () => {
  it('loses no line and receives the result later', async () => {
    const heard = coordinator.add({ script: ['for i in $(seq 100); do echo "line $i"; sleep 0.02; done'] });
    await until('some is there', () => heard.trace.includes('line 5\n'));
    await coordinator.shut();
    await wait(300);
    await coordinator.open();
    const log = await ended(heard);
    assert.deepEqual(
      printed(log).filter((line) => line.startsWith('line')),
      Array.from({ length: 100 }, (_, index) => `line ${index + 1}`),
    );
    assert.equal(heard.ended?.state, 'success');
  });
  it('that returns errors for a while is retried', async () => {
    let failures = 0;
    coordinator.intercept((request, response) => {
      if (!/\/jobs\/\d/.test(request.url ?? '') || failures >= 6) return false;
      failures += 1;
      response.writeHead(failures % 2 === 0 ? 503 : 500).end();
      return true;
    });
    const { state } = await run({ script: ['echo fine'] });
    coordinator.intercept(null);
    assert.equal(failures, 6);
    assert.equal(state, 'success');
  });
});

describe('a runner', () => {
  it('runs as many jobs at once as its concurrency allows', async () => {
    const jobs = [1, 2, 3].map(() => coordinator.add({ script: ['echo begun; sleep 0.3'] }));
    await until('all have ended', () => jobs.every(({ ended }) => ended !== null));
    const marks = runner.logged().filter((line) => line.includes('job started'));
    assert.ok(marks.every((line) => /"slot":[01]\}/.test(line)));
  });
  it('that is draining finishes its running jobs', async () => {
    const other = await startTestRunner({ url: coordinator.url });
    await runner.close();
    const heard = coordinator.add({ script: ['echo ready', 'sleep 0.5', 'echo done'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    await other.drain();
    assert.equal(heard.ended?.state, 'success');
    await other.close();
    runner = await startTestRunner({ url: coordinator.url });
  });
  it('that is killed leaves no process after its successor has started, and the successor reports the job', async () => {
    const heard = coordinator.add({ script: ['setsid sleep 1000 &', 'echo ready', 'sleep 1000'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    await runner.kill('SIGKILL');
    runner = await startTestRunner({ url: coordinator.url, folder: runner.folder });
    const log = await ended(heard);
    assert.equal(heard.ended?.failure_reason, 'runner_system_failure');
    assert.match(log, /the runner was killed/);
    assert.deepEqual(listLeftoverProcesses(runner.folder), []);
  });
  it('reports each job of a killed runner although new jobs take the slots immediately', async () => {
    const left = [1, 2].map((number) => coordinator.add({ script: [`echo ready ${number}`, 'sleep 1000'] }));
    await until('both run', () => left.every(({ trace }) => trace.includes('\nready ')));
    await runner.kill('SIGKILL');
    const next = [1, 2].map(() => coordinator.add({ script: ['echo begun; sleep 0.3'] }));
    runner = await startTestRunner({ url: coordinator.url, folder: runner.folder });
    const logs = await Promise.all([...left, ...next].map(ended));
    const reasons = left.map((heard) => heard.ended?.failure_reason);
    assert.deepEqual(reasons, ['runner_system_failure', 'runner_system_failure']);
    assert.deepEqual(
      next.map((heard) => heard.ended?.state),
      ['success', 'success'],
    );
    for (const number of [1, 2]) assert.match(logs[number - 1] ?? '', new RegExp(`ready ${number}\n`));
  });
  it('that is killed while the coordinator is away has its jobs reported by its successor', async () => {
    const heard = coordinator.add({ script: ['echo ready', 'sleep 1000'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    await runner.kill('SIGKILL');
    let refused = 0;
    coordinator.intercept(({ url = '' }, response) => {
      if (!url.includes('/trace')) return false;
      refused += 1;
      response.writeHead(503).end();
      return true;
    });
    runner = await startTestRunner({ url: coordinator.url, folder: runner.folder });
    await until('it tried', () => refused > 2);
    coordinator.intercept(null);
    assert.match(await ended(heard), /the runner was killed/);
  });
  it('does not pass inherited descriptors to its jobs', async () => {
    await runner.close();
    runner = await startTestRunner({ url: coordinator.url, inherited: import.meta.filename });
    const { log } = await run({ script: ['echo "open: $(ls -l /proc/$$/fd | grep -c runner.test.ts)"'] });
    assert.match(log, /\nopen: 0\n/);
  });
  it('limits the memory of a job as configured', async () => {
    await runner.close();
    runner = await startTestRunner({ url: coordinator.url, memory: 96 * 2 ** 20 });
    const { heard, log } = await run({
      script: [
        'echo "data $(ulimit -d)"',
        'x=$(head -c 200000000 /dev/zero | tr "\\0" x)',
        'echo "all ${#x}"',
      ],
    });
    assert.match(log, /\ndata 98304\n/);
    assert.equal(heard.ended?.state, 'failed');
    assert.doesNotMatch(log, /\nall /);
  });
  it('refuses to start with an executor that does not work here', async () => {
    const other = await startTestRunner({
      url: coordinator.url,
      executor: 'container',
      path: '/nonexistent',
    });
    assert.equal(other.ready.executor, null);
    await other.close();
  });
});
