/** A client or git process that dies halfway leaves nothing behind, and the next request works. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { times } from '../support/run/sample.ts';
import { type SeededProject, seedProject } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { openRepository } from '../support/repositories/seed_commits.ts';
import { until } from '../support/until.ts';

let gantry: TestService;
let tree: WorkTree;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  await tree.commit('Noise', { 'noise.bin': randomBytes(3_000_000).toString('base64') });
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const urlOf = (project: SeededProject): string => repositoryUrl(gantry.url, project.full_path, rootToken);

const dirOf = (project: SeededProject): string =>
  join(gantry.service.platform.config.data, 'repositories/default', project.repository_path);

type Process = { pid: number; parent: number; command: string };

const processes = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state = '', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return [];
      }
    });

/** Git processes that work on the repository, and their children. */
const workers = (project: SeededProject): Process[] => {
  const all = processes();
  const first = all.filter(
    ({ command }) =>
      /git .*(?:receive-pack|upload-pack|pack-objects)/.test(command) && command.includes(dirOf(project)),
  );
  const found = new Map(first.map((one) => [one.pid, one]));
  for (let grown = -1; grown !== found.size;) {
    grown = found.size;
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, one);
  }
  return [...found.values()];
};

const leftovers = (project: SeededProject): string[] =>
  globSync('**/{*.lock,*tmp_*}', { cwd: dirOf(project) });

const packetOf = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Starts a push whose body stops after half of its pack. */
const halfPush = async (project: SeededProject): Promise<{ sent: ClientRequest; ended: Promise<string> }> => {
  const id = await tree.git('rev-parse', 'main');
  const pack = execFileSync('git', ['pack-objects', '--revs', '--stdout', '--quiet'], {
    cwd: tree.path,
    input: 'main\n',
    maxBuffer: 2 ** 26,
  });
  const line = packetOf(
    `${'0'.repeat(40)} ${id} refs/heads/main\0 report-status side-band-64k quiet object-format=sha1`,
  );
  const sent = request(`${gantry.url}/${project.full_path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`x:${rootToken}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  sent.on('error', (error) => resolve(error.message));
  sent.on('response', (response) => {
    response.resume();
    response.on('close', () => resolve('answered'));
  });
  sent.write(`${line}0000`);
  sent.write(pack.subarray(0, pack.length / 2));
  return { sent, ended: promise };
};

const isIndexing = (project: SeededProject): boolean =>
  workers(project).some(({ command }) => /index-pack|unpack-objects/.test(command));

const pushesAgain = async (project: SeededProject): Promise<void> => {
  const { code, stderr } = await tryGit(tree.path, ['push', urlOf(project), 'main']);
  assert.equal(code, 0, stderr);
  const repository = await openRepository(gantry, project.id);
  assert.deepEqual(await repository.ask('repository.check', {}), { problems: [] });
};

test('leaves no process and no file when a client dies during a push', async () => {
  const project = await seedProject(gantry);
  const { sent } = await halfPush(project);
  await until('git reads the pack', () => isIndexing(project));
  sent.destroy();
  await until('no process is left', () => workers(project).length === 0);
  await until('no file is left', () => leftovers(project).length === 0);
  await pushesAgain(project);
});

test('tells the client at once when its git receive-pack is killed, and leaves nothing', async () => {
  const project = await seedProject(gantry);
  const { ended } = await halfPush(project);
  await until('git reads the pack', () => isIndexing(project));
  const [first] = workers(project).filter(({ command }) => command.includes('receive-pack'));
  assert.ok(first !== undefined);
  process.kill(first.pid, 'SIGKILL');
  const told = await Promise.race([ended, wait(8_000, 'nothing', { ref: false })]);
  assert.notEqual(told, 'nothing');
  await until('no process is left', () => workers(project).length === 0);
  await until('no file is left', () => leftovers(project).length === 0);
  await pushesAgain(project);
});

test('leaves no process when a client stops reading a clone and disconnects', async () => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project), 'main');
  const id = await tree.git('rev-parse', 'main');
  // A clone may be cached; the answer to a client that already has commits is not.
  const body = [
    packetOf('command=fetch'),
    packetOf('object-format=sha1'),
    '0001',
    packetOf(`want ${id}\n`),
    packetOf(`have ${'1'.repeat(40)}\n`),
    packetOf('done\n'),
    '0000',
  ].join('');
  const sent = request(`${gantry.url}/${project.full_path}.git/git-upload-pack`, {
    method: 'POST',
    headers: { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' },
  });
  sent.on('error', () => undefined);
  const answered = Promise.withResolvers<void>();
  sent.on('response', (response) => {
    response.on('error', () => undefined);
    response.once('readable', () => answered.resolve());
  });
  sent.end(body);
  await answered.promise;
  assert.ok(workers(project).some(({ command }) => command.includes('pack-objects')));
  sent.destroy();
  await until('no process is left', () => workers(project).length === 0);
});

test('keeps a push whose refs have moved although its client disconnected', async () => {
  const project = await seedProject(gantry);
  const id = await tree.git('rev-parse', 'main');
  const { platform } = gantry.service;
  const { store } = platform;
  // Blocked after the service allowed it: its row is written, the response is pending.
  const write = store.write.bind(store);
  const begun = Promise.withResolvers<void>();
  store.write = async (work) => {
    const done = await write(work);
    const open = await store.db.selectFrom('git_operations').select('id').execute();
    if (open.length > 0) begun.resolve();
    return done;
  };
  const pack = execFileSync('git', ['pack-objects', '--revs', '--stdout', '--quiet'], {
    cwd: tree.path,
    input: 'main\n',
    maxBuffer: 2 ** 26,
  });
  const line = packetOf(`${'0'.repeat(40)} ${id} refs/heads/main\0 report-status object-format=sha1`);
  const sent = request(`${gantry.url}/${project.full_path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`x:${rootToken}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
  });
  sent.on('error', () => undefined);
  sent.end(Buffer.concat([Buffer.from(`${line}0000`), pack]));
  await begun.promise;
  sent.destroy();
  store.write = write;
  const operations = async () => await store.db.selectFrom('git_operations').select('id').execute();
  for (let tries = 0; tries < 500 && (await operations()).length > 0; tries += 1) await wait(20);
  assert.deepEqual(await operations(), []);
  const { refs } = await (
    await openRepository(gantry, project.id)
  ).ask('refs.get', { names: ['refs/heads/main'] });
  assert.equal(refs[0]?.target, id);
  const row = await store.db
    .selectFrom('projects')
    .select('default_branch')
    .where('id', '=', project.id)
    .executeTakeFirst();
  assert.equal(row?.default_branch, 'main');
});

const rssOf = (pid: number | 'self'): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
};

/** Peak memory of the work above the level before it, in MB. */
const growthOf = async (work: () => Promise<void>): Promise<{ service: number; gitd: number }> => {
  const { pid } = await gantry.service.platform.git.status('default');
  const before = { service: rssOf('self'), gitd: rssOf(pid) };
  const most = { service: 0, gitd: 0 };
  const timer = setInterval(() => {
    most.service = Math.max(most.service, rssOf('self'));
    most.gitd = Math.max(most.gitd, rssOf(pid));
  }, 20);
  await work().finally(() => clearInterval(timer));
  return { service: most.service - before.service, gitd: most.gitd - before.gitd };
};

/** Pieces of 10 MB. */
const pieces = times(30, 5);

test(`pushes and clones ${pieces * 10} MB without more memory than small transfers`, async () => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project), 'main');
  const large = await newWorkTree();
  try {
    await large.git('config', 'core.compression', '0');
    await large.git('config', 'core.bigFileThreshold', '1m');
    for (let at = 0; at < pieces; at += 1) {
      await writeFile(join(large.path, `noise-${at}.bin`), randomBytes(10_000_000));
    }
    const id = await large.commit('Large', {});
    const pushed = await growthOf(async () => {
      await large.git('push', '--quiet', urlOf(project), 'main:refs/heads/large');
    });
    const cloned = await growthOf(async () => {
      const options = ['--quiet', '--bare', '--single-branch', '--branch=large'];
      await large.git('clone', ...options, urlOf(project), '.git/clone');
    });
    assert.equal(await large.git('--git-dir=.git/clone', 'rev-parse', 'large'), id);
    for (const [deed, { service, gitd }] of Object.entries({ pushed, cloned })) {
      assert.ok(service < 60, `${deed}: the service took ${service} MB more`);
      assert.ok(gitd < 60, `${deed}: gitd took ${gitd} MB more`);
    }
  } finally {
    await large.remove();
  }
});
