/** Tests the sources, artifacts and caches of jobs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { until } from '../test/support/until.ts';
import { writeZip, type ZipEntry } from '../zip/write_zip.ts';
import { openZip } from '../zip/read_directory.ts';
import { readItemWhole } from '../zip/read_items.ts';
import {
  type Coordinator,
  type OfferedJob,
  type ReceivedJob,
  startCoordinator,
} from '../test/support/servers/runner_coordinator.ts';
import {
  type TestRunner,
  listLeftoverProcesses,
  startTestRunner,
} from '../test/support/ci/runner_process.ts';

let coordinator: Coordinator;
let runner: TestRunner;
const outside = mkdtempSync(join(tmpdir(), 'gantry-test-outside-'));
before(async () => {
  coordinator = await startCoordinator();
  runner = await startTestRunner({ url: coordinator.url, concurrency: 1 });
});
after(async () => {
  await runner.close();
  await coordinator.close();
  rmSync(outside, { recursive: true, force: true });
  assert.deepEqual(listLeftoverProcesses(runner.folder), []);
});

const run = async (job: OfferedJob): Promise<{ heard: ReceivedJob; log: string }> => {
  const heard = coordinator.add(job);
  await until(`job ${heard.id} has ended`, () => heard.ended !== null);
  return { heard, log: heard.trace.toString() };
};

/** Reads an archive into an object from name to content. */
const contents = async (bytes: Buffer): Promise<Record<string, string>> => {
  const source = {
    size: bytes.length,
    read: (start: number, length: number) => Promise.resolve(bytes.subarray(start, start + length)),
  };
  const found: Record<string, string> = {};
  for (const item of (await openZip(source)).items())
    found[item.name] = item.kind === 'directory' ? '' : (await readItemWhole(source, item, 1e6)).toString();
  return found;
};

const archive = async (...entries: Partial<ZipEntry>[]): Promise<Buffer> => {
  const usual = { kind: 'file', mode: 0o644, modified: new Date(), content: '' } as const;
  const chunks: Buffer[] = [];
  const all = entries.map((entry) => ({ ...usual, name: 'x', ...entry }));
  for await (const chunk of writeZip(all)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const zipped = { artifact_type: 'archive', artifact_format: 'zip' };

describe('artifacts', () => {
  it('are a zip of the files that match the patterns', async () => {
    const { heard, log } = await run({
      script: [
        'mkdir -p out/deep b',
        'echo 1 >out/one.txt; echo 2 >out/deep/two.o; echo 3 >b/three.txt; echo 4 >four',
      ],
      variables: [{ key: 'NAME', value: 'all' }],
      artifacts: [
        {
          ...zipped,
          name: 'of-$NAME',
          paths: ['out/', 'b/*.txt', 'none'],
          exclude: ['**/*.o'],
          expire_in: '1 day',
        },
      ],
    });
    assert.equal(heard.ended?.state, 'success');
    assert.equal(heard.uploads.length, 1);
    const [{ query, filename, bytes }] = heard.uploads as [ReceivedJob['uploads'][0]];
    assert.equal(filename, 'of-all.zip');
    assert.equal(query.get('expire_in'), '1 day');
    assert.deepEqual(await contents(bytes), {
      'b/three.txt': '3\n',
      'out/': '',
      'out/deep/': '',
      'out/one.txt': '1\n',
    });
    assert.match(log, /WARNING: none: no matching files/);
  });
  it('follow their settings: on failure, untracked files, reports', async () => {
    const { heard } = await run({
      script: ['echo x >left; echo "<a/>" >r1.xml; echo "<b/>" >r2.xml; echo raw >raw.json', 'false'],
      artifacts: [
        { ...zipped, untracked: true, when: 'on_failure' },
        { ...zipped, paths: ['left'], when: 'on_success' },
        {
          artifact_type: 'junit',
          artifact_format: 'gzip',
          name: 'junit.xml',
          paths: ['r*.xml'],
          when: 'always',
        },
        { artifact_type: 'terraform', artifact_format: 'raw', paths: ['raw.json'], when: 'always' },
      ],
    });
    assert.equal(heard.ended?.state, 'failed');
    const [all, junit, raw] = heard.uploads;
    assert.equal(heard.uploads.length, 3);
    assert.deepEqual(Object.keys(await contents(all!.bytes)), ['left', 'r1.xml', 'r2.xml', 'raw.json']);
    assert.equal(junit?.filename, 'junit.xml.gz');
    assert.equal(gunzipSync(junit.bytes).toString(), '<a/>\n<b/>\n');
    assert.deepEqual([raw?.filename, raw?.bytes.toString()], ['raw.json', 'raw\n']);
  });
  it('omit files whose name is not UTF-8, with a warning', async () => {
    const { heard, log } = await run({
      script: [String.raw`mkdir -p out/$'\xfe' && touch $'out/caf\xe9' out/$'\xfe'/x out/plain`],
      artifacts: [{ paths: ['out'], artifact_type: 'archive', artifact_format: 'zip' }],
      cache: [{ key: 'odd-names', paths: ['out'], policy: 'push' }],
    });
    assert.equal(heard.ended?.state, 'success');
    const names = Object.keys(await contents(heard.uploads[0]?.bytes ?? Buffer.alloc(0)));
    assert.deepEqual(names.toSorted(), ['out/', 'out/plain']);
    const warning = /WARNING: left out, since their names are not UTF-8: out\/caf\ufffd, out\/\ufffd/g;
    assert.equal(log.match(warning)?.length, 2, log);
  });
  it('never include files outside the project folder', async () => {
    writeFileSync(join(outside, 'secret'), 'secret of the machine');
    const { heard } = await run({
      script: [
        `ln -s ${outside} folder; ln -s ${outside}/secret file; mkdir real; echo fine >real/fine; mkfifo pipe`,
        'echo ok >ok',
      ],
      artifacts: [
        {
          ...zipped,
          paths: [
            'folder',
            'folder/secret',
            'folder/*',
            'file',
            'real',
            '../../../*',
            `${outside}/secret`,
            'pipe',
            '$CI_PROJECT_DIR/ok',
          ],
        },
      ],
    });
    assert.equal(heard.ended?.state, 'success');
    const found = await contents(heard.uploads[0]!.bytes);
    assert.deepEqual(Object.keys(found), ['file', 'folder', 'ok', 'real/', 'real/fine']);
    assert.equal(found['file'], `${outside}/secret`); // the target of the link, not the content of that file
  });
  it('are uploaded again after an error, and a job fails if its artifacts are refused', async () => {
    let tries = 0;
    coordinator.intercept((request, response) => {
      if (!/artifacts/.test(request.url ?? '') || tries >= 2) return false;
      tries += 1;
      request.resume();
      response.writeHead(503).end();
      return true;
    });
    const order = {
      script: ['head -c 1000000 /dev/urandom >big'],
      artifacts: [{ ...zipped, paths: ['big'] }],
    };
    const { heard } = await run(order);
    assert.equal(heard.ended?.state, 'success');
    assert.equal((await contents(heard.uploads[0]!.bytes))['big'] === undefined, false);
    coordinator.intercept((request, response) => {
      if (!/artifacts/.test(request.url ?? '')) return false;
      response.writeHead(413).end();
      return true;
    });
    const { heard: refused, log } = await run(order);
    coordinator.intercept(null);
    assert.equal(refused.ended?.failure_reason, 'runner_system_failure');
    assert.match(log, /they are too large \(413\)/);
  });
  it('of other jobs are downloaded before the script', async () => {
    const file = await archive(
      { name: 'bin/', kind: 'directory', mode: 0o755 },
      { name: 'bin/tool', mode: 0o755, content: '#!/bin/sh\necho it works\n' },
    );
    coordinator.files.set(900, file);
    coordinator.intercept((request, response) => {
      if (!/jobs\/900\//.test(request.url ?? '')) return false;
      response.writeHead(200).end(file);
      return true;
    });
    const dependencies = [
      { id: 900, name: 'build', token: 't', artifacts_file: { filename: 'artifacts.zip', size: 9 } },
    ];
    const { log } = await run({ dependencies, script: ['bin/tool', 'rm bin/tool'] });
    assert.match(log, /\nit works\n/);
    const evil = await archive({ name: '../../evil', content: 'x' });
    coordinator.intercept((request, response) => {
      if (!/jobs\/900\//.test(request.url ?? '')) return false;
      response.writeHead(200).end(evil);
      return true;
    });
    const { heard } = await run({ dependencies, script: ['echo never'] });
    coordinator.intercept(null);
    assert.equal(heard.ended?.failure_reason, 'runner_system_failure');
  });
});

describe('a cache', () => {
  const cache = { key: '$CI_JOB_NAME-k', paths: ['kept/'], policy: 'pull-push', when: 'on_success' };
  const variables = [{ key: 'CI_JOB_NAME', value: 'c' }];
  const look = ['cat kept/file || echo nothing', 'mkdir -p kept', 'echo "$SAYS" >kept/file'];
  const says = (value: string) => [...variables, { key: 'SAYS', value }];
  it('is restored for the next job of the same key, project and kind of ref', async () => {
    assert.match((await run({ cache: [cache], variables: says('one'), script: look })).log, /\nnothing\n/);
    assert.match((await run({ cache: [cache], variables: says('two'), script: look })).log, /\none\n/);
    assert.match(
      (await run({ cache: [{ ...cache, key: 'other' }], variables, script: look })).log,
      /\nnothing\n/,
    );
    assert.match((await run({ cache: [cache], variables, project: 2, script: look })).log, /\nnothing\n/);
    // Another project may have the same id after a restore from a backup.
    const projectKey = 'a'.repeat(32);
    assert.match((await run({ cache: [cache], variables, projectKey, script: look })).log, /\nnothing\n/);
    assert.match(
      (await run({ cache: [cache], variables, protected: true, script: look })).log,
      /\nnothing\n/,
    );
    const fallback = { ...cache, key: 'new', fallback_keys: ['absent', 'c-k'], policy: 'pull' };
    assert.match((await run({ cache: [fallback], variables, script: look })).log, /\ntwo\n/);
    assert.match(
      (await run({ cache: [cache], variables, script: ['cat kept/file', 'false'] })).log,
      /\ntwo\n/,
    );
  });

  const kept = async (key: string, more: object = {}): Promise<string | undefined> => {
    const script = ['cat kept/file || echo nothing'];
    const { log } = await run({ cache: [{ ...cache, key, policy: 'pull', ...more }], script });
    return /\n(nothing|one|two)\n/.exec(log)?.[1];
  };
  const leave = async (key: string, word: string, more: object, end = 'true'): Promise<string> => {
    const script = ['cat kept/file || echo nothing', `mkdir -p kept; echo ${word} >kept/file`, end];
    return (await run({ cache: [{ ...cache, key, ...more }], script })).log;
  };
  it('is written only by jobs with a push policy, and read only with a pull policy', async () => {
    await leave('policy', 'one', { policy: 'pull' });
    assert.equal(await kept('policy'), 'nothing');
    await leave('policy', 'one', { policy: 'push' });
    assert.equal(await kept('policy'), 'one');
    assert.match(await leave('policy', 'two', { policy: 'push' }), /\nnothing\n/);
    assert.equal(await kept('policy'), 'two');
  });
  it('is written depending on the result of the job, as `when` says', async () => {
    await leave('ended', 'one', {}, 'false');
    assert.equal(await kept('ended'), 'nothing');
    await leave('ended', 'one', { when: 'on_failure' });
    assert.equal(await kept('ended'), 'nothing');
    await leave('ended', 'one', { when: 'on_failure' }, 'false');
    assert.equal(await kept('ended'), 'one');
    await leave('ended', 'two', { when: 'always' }, 'false');
    assert.equal(await kept('ended'), 'two');
  });
  it('includes untracked files if requested', async () => {
    await leave('untracked', 'one', { paths: [], untracked: true });
    assert.equal(await kept('untracked', { paths: [] }), 'one');
  });
});

describe('sources', () => {
  const repository = join(outside, 'source.git');
  const work = join(outside, 'work');
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: work, stdio: 'pipe' }).toString().trim();
  let first = '';
  let second = '';
  const at = (sha: string, depth = 20) => ({
    sha,
    depth,
    refspecs: ['+refs/pipelines/1:refs/pipelines/1', '+refs/heads/main:refs/remotes/origin/main'],
  });
  before(() => {
    execFileSync('git', ['init', '-q', '-b', 'main', work]);
    git('config', 'user.email', 'a@example.com');
    git('config', 'user.name', 'A');
    const commit = (text: string): string => {
      writeFileSync(join(work, 'file'), text);
      git('add', '.');
      git('commit', '-q', '-m', text);
      return git('rev-parse', 'HEAD');
    };
    first = commit('first');
    second = commit('second');
    git('update-ref', 'refs/pipelines/1', first);
    execFileSync('git', ['clone', '-q', '--mirror', work, repository]);
    coordinator.serve(repository);
  });
  it('are those of the commit and do not contain the token', async () => {
    const script = [
      'cat file; echo',
      'git log --format=%s',
      'git status --porcelain',
      'git remote -v',
      'cat .git/config',
      'git branch -r',
    ];
    const { log, heard } = await run({ git: at(first), script });
    assert.equal(heard.ended?.state, 'success');
    assert.match(log, /\nfirst\n/);
    assert.match(log, /origin\/main/);
    assert.match(log, /url = http:\/\/127\.0\.0\.1:\d+\/g\/p\.git/);
    assert.doesNotMatch(log, /gitlab-ci-token|MASKED/);
    const next = await run({ git: at(second), script: ['cat file', 'git rev-list --count HEAD'] });
    assert.match(next.log, /second/);
    const shallow = await run({
      git: at(second, 1),
      variables: [{ key: 'GIT_STRATEGY', value: 'clone' }],
      script: ['echo "has $(git rev-list --count HEAD)"'],
    });
    assert.match(shallow.log, /has 1\n/);
    const deep = await run({
      git: at(second, 1),
      variables: [{ key: 'GIT_DEPTH', value: '0' }],
      script: ['echo "has $(git rev-list --count HEAD)"'],
    });
    assert.match(deep.log, /has 2\n/);
  });
  it('are clean for the next job after any change by the last one', async () => {
    const hostile = [
      'echo left >left; echo changed >file; mkdir -p a/b; chmod 0 a',
      `for hook in post-checkout reference-transaction; do printf '#!/bin/sh\\ntouch ${outside}/hooked\\n' >.git/hooks/$hook; chmod +x .git/hooks/$hook; done || true`,
      `git config core.fsmonitor 'touch ${outside}/hooked'; git config core.hooksPath .git/hooks; git config filter.x.smudge 'touch ${outside}/hooked; cat'`,
      'mkdir -p .git/hooks; echo "* filter=x" >.gitattributes',
    ];
    assert.equal((await run({ git: at(second), script: hostile })).heard.ended?.state, 'success');
    const { log } = await run({ git: at(second), script: ['ls -A', 'cat file'] });
    assert.match(log, /\n\.git\nfile\n/);
    assert.match(log, /second/);
    assert.throws(() => readFileSync(join(outside, 'hooked')));
    const kept = { variables: [{ key: 'GIT_CLEAN_FLAGS', value: 'none' }] };
    await run({ git: at(second), script: ['echo left >left'] });
    assert.match((await run({ git: at(second), ...kept, script: ['cat left'] })).log, /\nleft\n/);
  });
  it('that cannot be fetched fail the job', async () => {
    const { heard, log } = await run({ git: at('1'.repeat(40)), script: ['echo never'] });
    assert.equal(heard.ended?.failure_reason, 'runner_system_failure');
    assert.match(log, /could not be checked out/);
  });
  it('are fetched after the pre_get_sources hook', async () => {
    const hooks = [{ name: 'pre_get_sources_script', script: ['echo "hook in $(ls | wc -l)"'] }];
    assert.match((await run({ git: at(first), hooks, script: ['cat file'] })).log, /hook in \d/);
    const failing = [{ name: 'pre_get_sources_script', script: ['exit 4'] }];
    assert.equal((await run({ git: at(first), hooks: failing })).heard.ended?.exit_code, 4);
  });
});
