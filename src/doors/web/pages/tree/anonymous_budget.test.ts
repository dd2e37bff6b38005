/** Tests that costly pages have a budget of their own for anonymous visitors, which members do not feel. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import type { Visit } from '../../page.ts';
import { takeDownloadSlot, withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';

let gantry: TestService;
let member: Visitor;
let project: { id: number; full_path: string };
let sha: string;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  sha = await seedCommit(gantry, project.id, { 'a.js': 'const a = 1;\n', 'd/b': '1' });
  await seedCommit(gantry, project.id, { c: '' }, { branch: 'topic', from: 'main' });
  member = (await seedVisitor(gantry)).visitor;
});
after(async () => await gantry.close());

/** Takes every place that these addresses may have, and lets as many wait as may. */
const crowd = async (addresses: readonly string[], work: () => Promise<void>): Promise<void> => {
  const { platform } = gantry.service;
  const gate = Promise.withResolvers<void>();
  const hold = async (): Promise<void> => await gate.promise;
  const crawlers = addresses.flatMap((ip) => {
    const crawler = { call: { platform, signedIn: false, ip } } as unknown as Visit;
    const download = async (): Promise<void> => {
      const release = await takeDownloadSlot(crawler);
      await hold();
      release();
    };
    return Array.from({ length: 22 }, async () => {
      await Promise.all([withAnonymousSlot(crawler, hold), download()]);
    });
  });
  // Those who wait are refused in the end, and those who are too many at once.
  const ended = Promise.allSettled(crawlers);
  try {
    await work();
  } finally {
    gate.resolve();
    await ended;
  }
};

/** With the address of the tests, which has filled its own part of the queue. */
const everybody = ['203.0.113.7', '203.0.113.8', '127.0.0.1'];

const listCostly = (): string[] => {
  const root = `/${project.full_path}`;
  return [
    `${root}/-/blame/main/a.js`,
    `${root}/-/commits/main/a.js`,
    `${root}/-/commits/main?search=x`,
    `${root}/-/commits/main?page=50`,
    `${root}/commit/${sha}`,
    `${root}/commit/${sha}.patch`,
    `${root}/commit/${sha}?refs=1`,
    `${root}/compare/main...topic`,
    `${root}/-/graphs/main`,
    `${root}/-/find_file/main`,
    `/-/jump?place=${root}&q=a`,
    `${root}/-/archive/main/x.tar`,
    `${root}/-/branches`,
    `${root}/tree/main?commits=1`,
  ];
};

test('past the budget, anonymous callers of the API are asked to come back, and members are served', async () => {
  const root = `/projects/${project.id}/repository`;
  const expensive = [
    `${root}/commits?search=a`,
    `${root}/commits/${sha}/diff`,
    `${root}/commits/${sha}/refs`,
    `${root}/compare?from=main&to=topic`,
    `${root}/merge_base?refs[]=main&refs[]=topic`,
    `${root}/contributors`,
    `${root}/tree?recursive=true`,
    `${root}/files/a.js/blame?ref=main`,
    `${root}/archive.tar`,
    `${root}/archive?format=zip`,
  ];
  await crowd(everybody, async () => {
    for (const path of expensive) {
      const { status, headers } = await gantry.api(`GET ${path}`, { as: null });
      assert.deepEqual([status, headers.get('retry-after')], [429, '30'], path);
      assert.equal((await gantry.api(`GET ${path}`)).status, 200, path);
    }
  });
  for (const path of expensive)
    assert.equal((await gantry.api(`GET ${path}`, { as: null })).status, 200, path);
});

test('past the budget, anonymous visitors are asked to come back, and members are served', async () => {
  await crowd(everybody, async () => {
    const anonymous = openVisitor(gantry);
    for (const path of listCostly()) {
      const { status, headers } = await anonymous.get(path);
      assert.deepEqual([status, headers.get('retry-after')], [429, '30'], path);
      assert.equal((await member.get(path)).status, 200, path);
    }
  });
});

test('one address that takes all it may have does not block others', async () => {
  await crowd(['203.0.113.7'], async () => {
    const anonymous = openVisitor(gantry);
    for (const path of listCostly()) assert.equal((await anonymous.get(path)).status, 200, path);
    const { status } = await gantry.api(`GET /projects/${project.id}/repository/archive.zip`, { as: null });
    assert.equal(status, 200);
  });
});

/** Begins a download from another address, and reads none of it. */
const startDownload = async (path: string): Promise<ClientRequest> => {
  const started = Promise.withResolvers<void>();
  const sent = request(`${gantry.url}${path}`, { localAddress: '127.0.0.2' }, (response) =>
    response.once('readable', started.resolve),
  );
  sent.on('error', started.reject).end();
  await started.promise;
  return sent;
};

test('downloads that nobody reads do not block pages, nor downloads of others', async () => {
  const large = await seedProject(gantry, { visibility: 'public' });
  const noise = randomBytes(12 * 2 ** 20).toString('base64');
  await seedCommit(gantry, large.id, { noise });
  const archive = `/${large.full_path}/-/archive/main/x.tar`;
  const slow = await Promise.all([startDownload(archive), startDownload(archive)]);
  try {
    const anonymous = openVisitor(gantry);
    for (const path of listCostly()) assert.equal((await anonymous.get(path)).status, 200, path);
  } finally {
    for (const one of slow) one.destroy();
  }
});

test('pages that can do without the costly part are shown without it', async () => {
  const other = await seedProject(gantry, { visibility: 'public' });
  await seedCommit(gantry, other.id, { 'a.js': 'const a = 1;\n' });
  await crowd(everybody, async () => {
    const anonymous = openVisitor(gantry);
    for (const path of [`/${other.full_path}`, `/${other.full_path}/tree/main`]) {
      const { status, text } = await anonymous.get(path);
      assert.deepEqual([status, text.includes('Show last commits')], [200, true], path);
    }
    assert.equal((await anonymous.get(`/${other.full_path}/-/blob/main/a.js`)).status, 200);
  });
});

test('a download frees its place', async () => {
  const anonymous = openVisitor(gantry);
  for (let at = 0; at < 4; at += 1) {
    const { status } = await anonymous.get(`/${project.full_path}/-/archive/main/x.tar`);
    assert.equal(status, 200);
    for (const method of ['GET', 'HEAD']) {
      const answer = await gantry.api(`${method} /projects/${project.id}/repository/archive.tar`, {
        as: null,
      });
      assert.equal(answer.status, 200, method);
    }
  }
  for (const path of listCostly()) assert.equal((await anonymous.get(path)).status, 200, path);
});

test('crawlers are asked to leave these pages out', async () => {
  const { text } = await openVisitor(gantry).get('/robots.txt');
  const closed = text
    .split('\n')
    .flatMap((line) => /^Disallow: (.+)$/.exec(line)?.slice(1) ?? [])
    .map((path) => new RegExp(`^${RegExp.escape(path).replaceAll('\\*', '.*')}`));
  const blob = `/${project.full_path}/-/blob/main/a.js`;
  for (const path of [...listCostly(), blob]) {
    assert.ok(
      closed.some((pattern) => pattern.test(path)),
      path,
    );
  }
  assert.ok(!closed.some((pattern) => pattern.test(`/${project.full_path}`)));
});
