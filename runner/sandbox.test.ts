/** Tests jobs in a sandbox. Skipped on machines without one. */
import { createSocket } from 'node:dgram';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import {
  type Coordinator,
  type OfferedJob,
  type ReceivedJob,
  startCoordinator,
} from '../test/support/servers/runner_coordinator.ts';
import { type TestRunner, makeRunnerFolder, startTestRunner } from '../test/support/ci/runner_process.ts';
import { until } from '../test/support/until.ts';
import { chooseExecutors } from './executors/choose_executor.ts';
import { findNameServers } from './executors/name_servers.ts';

/** Returns a unique sleep time, to find the process among those of other tests. */
const mark = (number: number): string => `86399.${number}${process.pid}`;

/** Returns the ids of all processes that have this word in their command line. */
const running = (word: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word) ? [pid] : [];
      } catch {
        return [];
      }
    });

const folder = await makeRunnerFolder();
const { choice, notices } = await chooseExecutors({
  requested: 'sandbox',
  isLocal: true,
  folder,
  user: null,
});
const none = choice === null ? notices.join(' ') : false;
const hasNetwork = choice !== null && notices.length === 0;

describe('a sandbox', { skip: none }, () => {
  let coordinator: Coordinator;
  let runner: TestRunner;
  before(async () => {
    coordinator = await startCoordinator();
    runner = await startTestRunner({ url: coordinator.url, executor: 'auto', folder });
  });
  after(async () => {
    await runner.close();
    await coordinator.close();
  });
  const run = async (job: OfferedJob): Promise<{ heard: ReceivedJob; log: string }> => {
    const heard = coordinator.add(job);
    await until(`job ${heard.id} has ended`, () => heard.ended !== null);
    return { heard, log: heard.trace.toString() };
  };
  /** Builds a script that ignores SIGTERM and runs until it is killed. */
  const stubborn = (word: string): string[] => [
    'trap "" TERM',
    `(trap "" TERM; setsid sleep ${word} &) ; sleep 0.1`,
    'echo ready',
    `while :; do sleep ${word}; done`,
  ];

  it('is what "auto" chooses where it works', async () => {
    assert.match(runner.ready.executor ?? '', /^sandbox/);
    assert.match((await run({})).log, /Preparing the "sandbox" executor/);
  });
  it('runs scripts with their files and variables, and keeps their output files', async () => {
    const { heard, log } = await run({
      script: [
        'pwd',
        'cat "$CONFIG"',
        'mkdir out; echo "$CI_PROJECT_DIR" >out/file',
        'echo x >/tmp/x; echo y >~/y',
        'exit 5',
      ],
      after: ['cat out/file; ls ~; ls /tmp'],
      variables: [{ key: 'CONFIG', value: 'the content\n', file: true }],
      artifacts: [{ paths: ['out'], when: 'always', artifact_type: 'archive', artifact_format: 'zip' }],
    });
    assert.equal(heard.ended?.exit_code, 5);
    assert.match(log, /\n\/builds\/g\/p\n/);
    assert.match(log, /\nthe content\n/);
    assert.match(log, /\n\/builds\/g\/p\ny\n/);
    assert.equal(heard.uploads.length, 1);
  });
  it('a sandbox has the sources and their history', async () => {
    const source = join(folder, 'source');
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', source, ...args])
        .toString()
        .trim();
    execFileSync('git', ['init', '-q', '-b', 'main', source]);
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    for (const text of ['one', 'two']) git(...who, 'commit', '-q', '--allow-empty', '-m', text);
    coordinator.serve(join(source, '.git'));
    const at = {
      sha: git('rev-parse', 'HEAD'),
      depth: 20,
      refspecs: ['+refs/heads/main:refs/remotes/origin/main'],
    };
    const { log } = await run({
      git: at,
      script: ['git log --format=%s', 'git status --short', 'git fsck 2>&1'],
    });
    assert.match(log, /\ntwo\none\n/);
    assert.match(log, /Job succeeded/);
  });
  it('exposes nothing of the host except its programs', async () => {
    const { log } = await run({
      script: [
        'id -u; hostname; echo "processes: $(ls /proc | grep -c "^[0-9]")"',
        `for path in /root /home/other /etc/shadow /var/lib /sys ${folder} /boot; do [ -e $path ] && echo "sees $path"; done; true`,
        'touch /usr/x /etc/x 2>/dev/null && echo "writes"; grep -E "^(CapEff|NoNewPrivs|Seccomp)" /proc/self/status',
        'export -p | grep -v "x CI_\\|x GIT_"',
      ],
    });
    assert.match(log, /\n1000\njob\n/);
    assert.ok(Number(/processes: (\d+)/.exec(log)?.[1]) < 10);
    assert.doesNotMatch(log, /\nsees|\nwrites/);
    assert.match(log, /CapEff:\s+0+\n/);
    assert.match(log, /NoNewPrivs:\s+1\n/);
    assert.doesNotMatch(log, /declare -x (?:NODE|TEST|GANTRY)/);
  });
  it('writes the files of a job to disk, not to memory', async () => {
    const { log } = await run({
      script: [
        'for place in /tmp /var/tmp; do echo "$place: $(stat -f -c %T $place)"; done',
        'for place in / /run /dev; do touch $place/x 2>/dev/null && echo "writes to $place"; done',
        'echo "shared: $(stat -f -c "%b * %S" /dev/shm)"; touch /dev/shm/x && echo fine',
      ],
    });
    const type = execFileSync('stat', ['-f', '-c', '%T', folder]).toString().trim();
    assert.match(log, new RegExp(`\n/tmp: ${type}\n/var/tmp: ${type}\n`));
    assert.doesNotMatch(log, /\nwrites to/);
    const [, blocks, size] = /\nshared: (\d+) \* (\d+)\n/.exec(log) ?? [];
    assert.ok(Number(blocks) * Number(size) <= 256 * 2 ** 20, log);
    assert.match(log, /\nfine\n/);
  });
  it('a sandbox limits the resources of a process', async () => {
    const { log } = await run({ script: ['echo "limits $(ulimit -u) $(ulimit -c) $(ulimit -f)"'] });
    const [, processes, core, file] = /limits (\d+) (\d+) (\d+)/.exec(log) ?? [];
    assert.ok(Number(processes) <= 2048 && Number(core) === 0 && Number(file) > 0, log);
  });
  it('cannot reach services on the loopback of the host', async () => {
    const heard: string[] = [];
    const server = createServer((socket) => void heard.push(socket.remoteAddress ?? ''));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const server6 = createServer((socket) => void heard.push(socket.remoteAddress ?? ''));
    await new Promise<void>((resolve) => void server6.listen(port, '::1', resolve));
    // The last is the address by which slirp4netns would reach the loopback over IPv6.
    const knock = ['127.0.0.1', '10.0.2.2', '::1', 'fd00::2'].map(
      (host) =>
        `(timeout 2 bash -c "echo >/dev/tcp/${host}/${port}") 2>/dev/null && echo "in by ${host}"; true`,
    );
    const { log } = await run({ script: [...knock, 'cat /proc/net/dev'] });
    for (const one of [server, server6]) await new Promise((resolve) => void one.close(resolve));
    assert.deepEqual(heard, []);
    assert.doesNotMatch(log, /\nin by/);
    if (hasNetwork) assert.match(log, /tap0/);
  });
  const probeBoundTo = (device: string): string => `
import socket, sys
for family, host, sources in (
    (socket.AF_INET6, '::1', ('', 'fd00::100')),
    (socket.AF_INET6, 'fd00::2', ('',)),
    (socket.AF_INET, '127.0.0.1', ('', '10.0.2.100')),
    (socket.AF_INET, '10.0.2.3', ('', '10.0.2.100')),
):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for source in sources:
            try:
                probe = socket.socket(family, kind)
                probe.settimeout(0.4)
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'${device}')
                probe.bind((source, 0))
                probe.connect((host, int(sys.argv[1])))
                probe.send(host.encode())
            except OSError:
                pass
print('probed', host)
`;
  const noProbe =
    hasNetwork && existsSync('/usr/bin/python3') ? false : 'needs a network and /usr/bin/python3';
  it('cannot reach them through a socket bound to its network device', { skip: noProbe }, async () => {
    const heard: string[] = [];
    const server = createServer((socket) => void heard.push(`tcp ${socket.remoteAddress}`));
    // Both families, every address.
    await new Promise<void>((resolve) => void server.listen(0, '::', resolve));
    const { port } = server.address() as { port: number };
    const datagrams = createSocket('udp6', (message) => void heard.push(`udp ${message}`));
    await new Promise<void>((resolve) => void datagrams.bind(port, '::', resolve));
    const probe = { key: 'PROBE', value: probeBoundTo('tap0'), file: true };
    const { log } = await run({
      variables: [probe],
      script: [`/usr/bin/python3 "$PROBE" ${port}`, 'exec 3<>/dev/tcp/localhost/1 || true', 'echo done'],
    });
    await new Promise((resolve) => void server.close(resolve));
    datagrams.close();
    assert.match(log, /\nprobed 10\.0\.2\.3\n/);
    assert.deepEqual(heard, []);
  });
  it('uses the name servers of the host that do not listen on loopback', { skip: noProbe }, async () => {
    const { log } = await run({ script: ['echo "servers: $(cat /etc/resolv.conf | tr "\\n" " ")"'] });
    const expected = findNameServers().map((address) => `nameserver ${address} `);
    assert.match(log, new RegExp(`\nservers: ${expected.join('')}\n`));
  });
  it('ends soon after a cancel, with all its processes', async () => {
    const heard = coordinator.add({ script: stubborn(mark(1)), after: ['echo "after $CI_JOB_STATUS"'] });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    assert.ok(running(mark(1)).length > 0);
    heard.status = 'canceling';
    await until('it has ended', () => heard.ended !== null);
    assert.deepEqual(running(mark(1)), []);
    assert.equal(heard.ended?.failure_reason, 'job_canceled');
    assert.match(heard.trace.toString(), /\nafter canceled\n/);
  });
  it('a canceled script can clean up before its sandbox ends', async () => {
    const heard = coordinator.add({
      script: ['trap "echo cleaned; exit 1" TERM', `echo ready; sleep ${mark(2)} & wait`],
    });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    heard.status = 'canceling';
    await until('it has ended', () => heard.ended !== null);
    assert.match(heard.trace.toString(), /\ncleaned\n/);
    assert.deepEqual(running(mark(2)), []);
  });
  it('all processes of a sandbox end with its script', async () => {
    const { heard } = await run({ script: [`setsid sleep ${mark(3)} &`, 'kill -9 $$'] });
    assert.equal(heard.ended?.exit_code, 137);
    assert.deepEqual(running(mark(3)), []);
  });
  it('ends with its runner when that is replaced by another', async () => {
    const heard = coordinator.add({ script: stubborn(mark(4)) });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    await runner.kill('SIGKILL');
    await until('all is gone', () => running(mark(4)).length === 0);
    runner = await startTestRunner({ url: coordinator.url, executor: 'auto', folder });
    await until('it has ended', () => heard.ended !== null);
    assert.equal(heard.ended?.failure_reason, 'runner_system_failure');
    assert.equal((await run({ script: ['echo fine'] })).heard.ended?.state, 'success');
  });
  it('says that images and services are ignored where there are no containers', async () => {
    await runner.close(true);
    runner = await startTestRunner({ url: coordinator.url, executor: 'sandbox', folder });
    const { log, heard } = await run({ image: { name: 'alpine' }, services: [{ name: 'redis' }] });
    assert.equal(heard.ended?.state, 'success');
    assert.match(log, /WARNING: `image` is ignored: containers are not available/);
    assert.match(log, /WARNING: `services` are not run: containers are not available/);
  });
});

describe('the name servers of a sandbox', () => {
  it('come from the second file if the first has only loopback addresses', () => {
    const [stub, upstream] = [`${folder}-stub.conf`, `${folder}-upstream.conf`];
    writeFileSync(stub, 'nameserver 127.0.0.53\nnameserver ::1\noptions edns0\n');
    writeFileSync(
      upstream,
      '# upstream\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver 192.0.2.2\n',
    );
    assert.deepEqual(findNameServers([`${folder}-missing`, stub, upstream]), ['192.0.2.1', '192.0.2.2']);
    assert.deepEqual(findNameServers([stub]), []);
    for (const file of [stub, upstream]) rmSync(file);
  });
});

describe('without a sandbox', () => {
  const choose = async (wanted: 'auto' | 'sandbox' | 'shell', isLocal: boolean) =>
    await chooseExecutors({ requested: wanted, isLocal, folder, user: null, tools: () => null });
  it('"auto" runs a plain shell if the instance is local, with a warning', async () => {
    const { choice, notices } = await choose('auto', true);
    assert.equal(choice?.name, 'shell');
    assert.match(notices.join(' '), /No sandbox is available: .*without a sandbox: anyone who can push/);
  });
  it('"auto" refuses a public instance, and "sandbox" refuses any', async () => {
    assert.equal((await choose('auto', false)).choice, null);
    assert.equal((await choose('sandbox', true)).choice, null);
    assert.equal((await choose('shell', false)).choice?.name, 'shell');
  });
});

after(() => rmSync(folder, { recursive: true, force: true }));
