/** Jobs with an image, by a program that answers in place of podman. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type Coordinator, startCoordinator, until } from '../test/support/coordinator.ts';
import { type TestRunner, makeRunnerFolder, startTestRunner } from '../test/support/runner.ts';

/** Writes down what it is asked, and runs the script where it would be in a container. */
const podman = `#!/bin/bash
echo "$*" >>"$(dirname "$0")/asked"
case "$1" in
  version) echo 5.0.0 ;;
  run)
    for word in "$@"; do
      case "$word" in
        *:/builds/g/p) project="\${word%%:*}" ;;
        *:/gantry) files="\${word%%:*}" ;;
      esac
    done
    exec bash <(sed "s#/builds/g/p#$project#" "$files/$(basename "\${@: -1}")")
    ;;
esac
`;

let coordinator: Coordinator;
let runner: TestRunner;
let folder: string;
const asked = (): string => readFileSync(join(folder, 'bin/asked'), 'utf8');
before(async () => {
  folder = await makeRunnerFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/podman'), podman);
  chmodSync(join(folder, 'bin/podman'), 0o755);
  coordinator = await startCoordinator();
  const path = `${folder}/bin:${process.env['PATH']}`;
  runner = await startTestRunner({ url: coordinator.url, executor: 'container', folder, path });
});
after(async () => {
  await runner.close();
  await coordinator.close();
  rmSync(folder, { recursive: true, force: true });
});

it('runs a job in its image, and no secret is seen on a command line', async () => {
  assert.equal(runner.ready.executor, 'container');
  const heard = coordinator.add({
    image: { name: 'alpine:$VERSION' },
    variables: [
      { key: 'VERSION', value: '3' },
      { key: 'SECRET', value: 'hunter2', masked: true },
    ],
    script: ['echo "said $SECRET in $VERSION" >out', 'cat out', 'exit 4'],
  });
  await until('it has ended', () => heard.ended !== null);
  assert.equal(heard.ended?.exit_code, 4);
  assert.match(heard.trace.toString(), /said \[MASKED\] in 3/);
  assert.match(asked(), /^run --rm .*--security-opt no-new-privileges.* -- alpine:3 -c /m);
  assert.doesNotMatch(asked(), /hunter2|glcbt/);
});

it('refuses a job without an image', async () => {
  const heard = coordinator.add({});
  await until('it has ended', () => heard.ended !== null);
  assert.equal(heard.ended?.failure_reason, 'runner_system_failure');
  assert.match(heard.trace.toString(), /only jobs that name an `image`/);
});

it('removes the container of a cancelled job', async () => {
  const heard = coordinator.add({ image: { name: 'alpine' }, script: ['echo ready', 'sleep 1000'] });
  await until('it runs', () => heard.trace.includes('\nready\n'));
  heard.status = 'canceling';
  await until('it has ended', () => heard.ended !== null);
  assert.match(asked(), /^kill --signal TERM gantry-/m);
  await until(
    'it is removed',
    () => existsSync(join(folder, 'bin/asked')) && /^rm --force gantry-/m.test(asked()),
  );
});
