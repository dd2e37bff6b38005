/** Tests jobs with an image. A script stands in for podman. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import {
  type Coordinator,
  type OfferedJob,
  type ReceivedJob,
  startCoordinator,
} from '../test/support/servers/runner_coordinator.ts';
import { type TestRunner, makeRunnerFolder, startTestRunner } from '../test/support/ci/runner_process.ts';
import { until } from '../test/support/until.ts';
import { listAliases } from './executors/start_services.ts';

/**
 * Fake podman: records its arguments, represents containers by files, and runs the scripts on the host.
 * Images whose names start with `absent` do not exist.
 */
const podman = `#!/bin/bash
here="$(dirname "$0")"
echo "$*" >>"$here/calls"
last="\${@: -1}"
name() { while [ $# -gt 0 ]; do [ "$1" = --name ] && echo "$2"; shift; done; }
case "$1" in
  version) echo 5.0.0 ;;
  pull)
    while [ $# -gt 1 ]; do [ "$1" = --authfile ] && cat "$2" >>"$here/logins"; shift; done
    case "$last" in absent*) echo "Error: no such image" >&2; exit 125 ;; esac
    touch "$here/images/\${last//\\//_}" ;;
  image)
    [ -e "$here/images/\${last//\\//_}" ] || exit 1
    echo '[{"Id":"sha256:1234","RepoDigests":["x@sha256:5678"],"Config":{"ExposedPorts":{"'$(cat "$here/port")'/tcp":{}}}}]' ;;
  inspect)
    [ -e "$here/containers/$last" ] && running=true || running=false
    grep -q fails "$here/containers/$last" && running=false
    echo '[{"State":{"Running":'$running',"Pid":'$PPID'},"NetworkSettings":{"Networks":{"n":{"IPAddress":"10.1.2.3"}}}}]' ;;
  logs) echo "what $last printed" ;;
  rm) for one in "$@"; do rm -f "$here/containers/$one"; done ;;
  ps) ls "$here/containers" ;;
  run)
    container="$(name "$@")"
    echo "$*" >"$here/containers/$container"
    for word in "$@"; do
      case "$word" in
        *:/builds/g/p) project="\${word%%:*}" ;;
        *:/gantry) files="\${word%%:*}" ;;
        */job.env|*/service.env) cp "$word" "$here/$(basename "$word")" ;;
      esac
    done
    [ "$2" = --detach ] && exit 0
    script="$(grep -o '/gantry/[a-z_]*.sh' | head -1)"
    bash <(sed "s#/builds/g/p#$project#" "$files/$(basename "$script")") </dev/null
    code=$?
    rm -f "$here/containers/$container"
    exit $code ;;
esac
`;

let coordinator: Coordinator;
let runner: TestRunner;
let folder: string;
const read = (name: string): string => readFileSync(join(folder, 'bin', name), 'utf8');
const podmanCalls = (): string => read('calls');
const containers = (): string[] => readdirSync(join(folder, 'bin/containers'));
const port = createServer();
before(async () => {
  folder = await makeRunnerFolder();
  for (const name of ['bin', 'bin/images', 'bin/containers']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'bin/podman'), podman);
  chmodSync(join(folder, 'bin/podman'), 0o755);
  await new Promise<void>((resolve) => void port.listen(0, '127.0.0.1', resolve));
  writeFileSync(join(folder, 'bin/port'), String((port.address() as { port: number }).port));
  coordinator = await startCoordinator();
  const path = `${folder}/bin:${process.env['PATH']}`;
  const options = { url: coordinator.url, executor: 'container', folder, path, concurrency: 1 };
  runner = await startTestRunner({ ...options, pull_policies: ['always', 'never'] });
});
beforeEach(() => {
  writeFileSync(join(folder, 'bin/calls'), '');
  writeFileSync(join(folder, 'bin/logins'), '');
});
after(async () => {
  await runner.close();
  await coordinator.close();
  port.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (offered: OfferedJob): Promise<{ job: ReceivedJob; log: string }> => {
  const job = coordinator.add(offered);
  await until(`job ${job.id} has ended`, () => job.ended !== null);
  return { job, log: job.trace.toString() };
};

it('runs a job in its image, without secrets on a command line', async () => {
  assert.equal(runner.ready.executor, 'container');
  const { job, log } = await run({
    image: { name: 'alpine:$VERSION' },
    variables: [
      { key: 'VERSION', value: '3' },
      { key: 'SECRET', value: 'hunter2', masked: true },
    ],
    script: ['echo "said $SECRET in $VERSION" >out', 'cat out', 'exit 4'],
  });
  assert.equal(job.ended?.exit_code, 4);
  assert.match(log, /said \[MASKED\] in 3/);
  assert.match(
    log,
    /Pulling podman image alpine:3 \.\.\.\nUsing podman image sha256:1234 for alpine:3 with digest/,
  );
  assert.match(podmanCalls(), /^run --rm .*--security-opt no-new-privileges.* -- alpine:3 sh$/m);
  assert.doesNotMatch(podmanCalls(), /hunter2|glcbt/);
  assert.match(read('job.env'), /^SECRET=hunter2$/m);
});

it('refuses a job without an image', async () => {
  const { job, log } = await run({});
  assert.equal(job.ended?.failure_reason, 'runner_system_failure');
  assert.match(log, /only jobs that name an `image`/);
});

describe('an image', () => {
  it('uses the entry point, user and platform from the job', async () => {
    const docker = { user: '$WHO', platform: 'linux/arm64' };
    const image = { name: 'tool', entrypoint: ['/bin/sh', '-c', '$X'], executor_opts: { docker } };
    const { job } = await run({ image, variables: [{ key: 'WHO', value: '1000' }] });
    assert.equal(job.ended?.state, 'success');
    assert.match(podmanCalls(), /^pull .*--platform linux\/arm64 -- tool$/m);
    assert.match(
      podmanCalls(),
      /--entrypoint \/bin\/sh --user 1000 --platform linux\/arm64 -- tool -c \$X sh$/m,
    );
    await run({ image: { name: 'tool', entrypoint: [''] } });
    assert.match(podmanCalls(), /--entrypoint {2}-- tool sh$/m);
  });
  it('is pulled by the policy of the job, if the runner allows that policy', async () => {
    await run({ image: { name: 'tool:2', pull_policy: ['always'] } });
    const { job } = await run({ image: { name: 'tool:2', pull_policy: ['never'] } });
    assert.equal(job.ended?.state, 'success');
    assert.equal(podmanCalls().match(/^pull/gm)?.length, 1);
    const { job: refused, log } = await run({ image: { name: 'tool:2', pull_policy: ['if-not-present'] } });
    assert.equal(refused.ended?.failure_reason, 'runner_system_failure');
    assert.match(log, /invalid pull policy .*\[if-not-present\]: this runner allows \[always never\]/);
  });
  it('fails the job if it does not exist, after each policy was tried', async () => {
    const { job, log } = await run({ image: { name: 'absent:1' } });
    assert.equal(job.ended?.failure_reason, 'runner_system_failure');
    assert.match(log, /WARNING: Failed to pull image with policy "always": Error: no such image/);
    assert.match(log, /WARNING: Failed to pull image with policy "never"/);
    assert.match(
      log,
      /Job failed \(system failure\): failed to pull image "absent:1" with specified policies/,
    );
    assert.doesNotMatch(podmanCalls(), /^run/m);
    assert.deepEqual(readdirSync(join(folder, 'slots/0/work')), [
      'container-builds',
      'home',
      'mirrors',
      'temp',
    ]);
  });
  it('is pulled with the logins of the job, and nothing else is read from DOCKER_AUTH_CONFIG', async () => {
    const auths = { 'a.example.com': { auth: 'YTpi' }, 'b.example.com': { username: 'u', password: 'p' } };
    const file = JSON.stringify({ auths, credsStore: 'evil', credHelpers: { 'c.example.com': 'evil' } });
    const credentials = [
      { type: 'registry', url: 'r.example.com', username: 'gitlab-ci-token', password: 't' },
      { type: 'registry', url: 'a.example.com', username: 'x', password: 'y' },
    ];
    const variables = [{ key: 'DOCKER_AUTH_CONFIG', value: file, raw: true }];
    const { log } = await run({ image: { name: 'tool' }, credentials, variables });
    assert.deepEqual(JSON.parse(read('logins')), {
      auths: {
        'r.example.com': { auth: Buffer.from('gitlab-ci-token:t').toString('base64') },
        'a.example.com': { auth: 'YTpi' },
        'b.example.com': { auth: Buffer.from('u:p').toString('base64') },
      },
    });
    assert.match(log, /credentials from \$DOCKER_AUTH_CONFIG/);
    await until('its slot is free', () => readdirSync(join(folder, 'slots/0')).join(' ') === 'work');
    const wrong = await run({
      image: { name: 'tool' },
      variables: [{ key: 'DOCKER_AUTH_CONFIG', value: '{' }],
    });
    assert.match(wrong.log, /WARNING: DOCKER_AUTH_CONFIG is not valid/);
  });
});

describe('services', () => {
  const image = { name: 'alpine' };
  it('are named by their aliases and images', () => {
    const names = (name: string, alias?: string) => listAliases({ name, alias: alias ?? null }, name);
    assert.deepEqual(names('redis:7'), ['redis']);
    assert.deepEqual(names('a/b:1', 'db, other'), ['a__b', 'a-b', 'db', 'other']);
    assert.deepEqual(names('r.example.com:5000/a/b@sha256:12'), ['r.example.com__a__b', 'r.example.com-a-b']);
    assert.deepEqual(names('redis', 'x:1 -y'), ['redis']);
  });
  it('run in the network of the job with its variables, and are removed afterwards', async () => {
    const services = [
      {
        name: 'redis:$V',
        alias: 'cache',
        entrypoint: ['/start', '--a'],
        command: ['--b', '$C'],
        variables: [{ key: 'OWN', value: 'of $SECRET' }],
      },
      { name: 'db' },
    ];
    const variables = [
      { key: 'V', value: '7', public: true },
      { key: 'SECRET', value: 'hunter2', masked: true },
    ];
    const { job, log } = await run({ image, services, variables });
    assert.equal(job.ended?.state, 'success');
    assert.match(log, /Starting service redis:7 \.\.\.[^]*Waiting for services to be up and running/);
    const [, first = '', second = '', own = ''] =
      /^(run --detach .*redis.*)\n[^]*^(run --detach .*)\n[^]*^(run --rm .*)$/m.exec(podmanCalls()) ?? [];
    assert.match(first, /--network gantry-\S+ --network-alias redis --network-alias cache/);
    assert.match(first, /--entrypoint \/start -- redis:7 --a --b \$C$/);
    assert.match(second, /--add-host cache:10\.1\.2\.3/);
    assert.match(own, /--network gantry-\S+ .*--add-host redis:10\.1\.2\.3 .*--add-host db:10\.1\.2\.3/);
    assert.doesNotMatch(podmanCalls(), /hunter2/);
    assert.deepEqual(containers(), []);
    assert.match(podmanCalls(), /^network rm gantry-\S+$/m);
  });
  it('show their output if they exit, and the job starts anyway', async () => {
    const services = [{ name: 'db', command: ['fails'], variables: [{ key: 'V', value: 'x $SECRET' }] }];
    const { job, log } = await run({ image, services, variables: [{ key: 'SECRET', value: 's' }] });
    assert.equal(job.ended?.state, 'success');
    assert.match(
      log,
      /Service db probably didn't start properly[^]*it has ended[^]*what gantry-\S+-service-0 printed/,
    );
    assert.equal(read('service.env'), 'V=x s\n');
  });
  it('are removed when the job is aborted, even while they start', async () => {
    const job = coordinator.add({
      image,
      services: [{ name: 'db' }],
      script: ['echo ready', 'sleep 1000'],
    });
    await until('it runs', () => job.trace.includes('\nready\n'));
    assert.equal(containers().length, 2);
    job.status = 'canceled';
    await until('all is gone', () => containers().length === 0);
    const silent = [{ key: 'HEALTHCHECK_TCP_PORT', value: '1' }];
    const waiting = coordinator.add({
      image,
      services: [{ name: 'db', variables: silent }],
      script: ['echo never'],
    });
    await until('it starts', () => containers().length === 1);
    waiting.status = 'canceling';
    await until('it has ended', () => waiting.ended !== null);
    assert.equal(waiting.ended?.failure_reason, 'job_canceled');
    assert.deepEqual(containers(), []);
    assert.doesNotMatch(waiting.trace.toString(), /never/);
  });
});

it('removes the container of a canceled job', async () => {
  const job = coordinator.add({ image: { name: 'alpine' }, script: ['echo ready', 'sleep 1000'] });
  await until('it runs', () => job.trace.includes('\nready\n'));
  job.status = 'canceling';
  await until('it has ended', () => job.ended !== null);
  assert.match(podmanCalls(), /^exec gantry-\S+ sh -c kill -TERM -1$/m);
  assert.match(podmanCalls(), /^rm --force --volumes gantry-/m);
});

it('removes the containers of a killed runner', async () => {
  const job = coordinator.add({
    image: { name: 'alpine' },
    services: [{ name: 'db' }],
    script: ['echo ready', 'sleep 1000'],
  });
  await until('it runs', () => job.trace.includes('\nready\n'));
  await runner.kill('SIGKILL');
  writeFileSync(join(folder, 'bin/containers/gantry-of-somebody-else'), '');
  const path = `${folder}/bin:${process.env['PATH']}`;
  runner = await startTestRunner({ url: coordinator.url, executor: 'container', folder, path });
  await until('it has ended', () => job.ended !== null);
  assert.deepEqual(containers(), ['gantry-of-somebody-else']);
});
