/** The search API over code: what is found, and that the index follows pushes, branches, projects and visibility. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject, seedUser, unique } from '../../support/seed.ts';
import { type TestService, engine, startTestService } from '../../support/service.ts';

let gantry: TestService;
let token: string;
before(async () => {
  gantry = await startTestService();
  ({ token } = await seedUser(gantry));
});
after(async () => await gantry.close());

type Blob = { path: string; data: string; startline: number; ref: string; project_id: number };

const drain = async (): Promise<void> => await gantry.service.worker.drain();

const search = async (line: string, as = token): Promise<{ blobs: Blob[]; total: number }> => {
  const { status, body, headers, text } = await gantry.api(`GET ${line}`, { as });
  assert.equal(status, 200, text);
  return { blobs: body, total: Number(headers.get('x-total')) };
};

/** Paths of the files that are found once all background work is done. */
const findPaths = async (text: string, place = '', as = token): Promise<string[]> => {
  await drain();
  const path = `${place}/search?scope=blobs&search=${encodeURIComponent(text)}`;
  const { blobs, total } = await search(path, as);
  assert.equal(total, blobs.length);
  return blobs.map(({ path: one }) => one);
};

describe('a search of code', () => {
  it('answers lines around the text, in the shape of the API', async () => {
    const word = unique('Needle');
    const { id } = await seedProject(gantry);
    const lines = Array.from({ length: 9 }, (_, at) => (at === 5 ? `call(${word});` : `line ${at + 1}`));
    await seedCommit(gantry, id, { 'src/a.test.ts': lines.join('\n'), other: 'text' });
    await drain();
    const { blobs } = await search(`/projects/${id}/search?scope=blobs&search=${word.toLowerCase()}`);
    const data = `line 4\nline 5\ncall(${word});\nline 7\nline 8\n`;
    const path = 'src/a.test.ts';
    assert.deepEqual(blobs, [
      {
        basename: 'src/a.test',
        data,
        path,
        filename: path,
        id: null,
        ref: 'main',
        startline: 4,
        project_id: id,
      },
    ]);
  });

  it('matches the whole text, paths too, and limits files by filters', async () => {
    const word = unique('phrase');
    const { id } = await seedProject(gantry);
    const files = {
      'a.rb': `one ${word} two`,
      'lib/b.ts': `${word}  two`,
      [`lib/${word}.bin`]: 'x\0y',
      'lib/c.ts': `100%_"${word}"`,
    };
    await seedCommit(gantry, id, files);
    const place = `/projects/${id}`;
    assert.deepEqual(await findPaths(`${word} two`, place), ['a.rb']);
    assert.deepEqual(await findPaths(word, place), ['a.rb', 'lib/b.ts', 'lib/c.ts', `lib/${word}.bin`]);
    assert.deepEqual(await findPaths(`%_"${word}"`, place), ['lib/c.ts']);
    assert.deepEqual(await findPaths(`${word} extension:ts`, place), ['lib/b.ts', 'lib/c.ts']);
    assert.deepEqual(await findPaths(`filename:B.ts ${word}`, place), ['lib/b.ts']);
    assert.deepEqual(await findPaths(`filename:*.rb ${word}`, place), ['a.rb']);
    assert.deepEqual(await findPaths(`path:lib ${word} extension:ts`, place), ['lib/b.ts', 'lib/c.ts']);
    const { blobs } = await search(`${place}/search?scope=blobs&search=${word}&per_page=1&page=2`);
    assert.deepEqual(
      blobs.map(({ path }) => path),
      ['lib/b.ts'],
    );
    assert.equal((await search(`${place}/search?scope=blobs&search=${word}&ref=main`)).total, 4);
    for (const short of ['ab', '  a ', 'extension:ts']) {
      const refused = await gantry.api(`GET /search?scope=blobs&search=${encodeURIComponent(short)}`);
      assert.equal(refused.status, 400, short);
      assert.deepEqual(refused.body, {
        message: { search: ['is too short (minimum is 3 characters)'] },
      });
    }
  });

  it('finds exactly the texts that repeat themselves', async () => {
    const { id } = await seedProject(gantry);
    const place = `/projects/${id}`;
    const files = {
      long: 'ab'.repeat(400),
      cut: `${'ab'.repeat(200)} ${'ab'.repeat(200)}c`,
      [`${'ab'.repeat(60)}c`]: 'x',
    };
    await seedCommit(gantry, id, files);
    const rows: [string, string[]][] = [
      ['AB'.repeat(60), [`${'ab'.repeat(60)}c`, 'cut', 'long']],
      ['ab'.repeat(200), ['cut', 'long']],
      ['ab'.repeat(201), ['long']],
      ['ab'.repeat(401), []],
      [`${'ab'.repeat(60)}c`, [`${'ab'.repeat(60)}c`, 'cut']],
      [`${'ab'.repeat(201)}c`, []],
      [`b ${'ab'.repeat(200)}c`, ['cut']],
    ];
    for (const [text, paths] of rows) assert.deepEqual(await findPaths(text, place), paths, text);
  });

  it('searches any branch, tag or commit of a project as it searches the default branch', async () => {
    const word = unique('Referred');
    const { id } = await seedProject(gantry, { visibility: 'private' });
    await seedCommit(gantry, id, { a: 'x' });
    const files = {
      'a.rb': `1\n2\n3\n--${word.toLowerCase()} -e\n5`,
      'lib/b.ts': word,
      [`lib/${word}.bin`]: 'x\0y',
      '%_.txt': `-e ${word}`,
      large: `${word}${'x'.repeat(256 * 1024)}`,
    };
    const sha = await seedCommit(gantry, id, files, { branch: 'side', from: 'main' });
    const { id: reader, token: as } = await seedUser(gantry);
    await seedMember(gantry, { user: reader, project: id, access_level: 20 });
    const paths = async (text: string, ref = 'side'): Promise<string[]> => {
      const query = new URLSearchParams({ scope: 'blobs', search: text, ref }).toString();
      const { blobs, total } = await search(`/projects/${id}/search?${query}`, as);
      assert.equal(total, blobs.length);
      return blobs.map(({ path }) => path);
    };
    const all = ['%_.txt', 'a.rb', 'large', `lib/${word}.bin`, 'lib/b.ts'].toSorted();
    assert.deepEqual((await paths(word)).toSorted(), all);
    assert.deepEqual((await paths(word, sha)).toSorted(), all);
    assert.deepEqual(await paths(word, 'main'), []);
    assert.deepEqual(await paths(`${word} extension:ts`), ['lib/b.ts']);
    assert.deepEqual(await paths(`${word} filename:%_*`), ['%_.txt']);
    assert.deepEqual(await paths(`--${word}`), ['a.rb']);
    const line = `/projects/${id}/search?scope=blobs&search=${word}&ref=side&per_page=2`;
    const page = await search(line, as);
    assert.deepEqual([page.blobs.length, page.total, page.blobs[0]?.ref], [2, 5, 'side']);
    assert.deepEqual((await search(line.replace('&ref', '%20filename:a.rb&ref'), as)).blobs[0], {
      basename: 'a',
      data: `2\n3\n--${word.toLowerCase()} -e\n5\n`,
      path: 'a.rb',
      filename: 'a.rb',
      id: null,
      ref: 'side',
      startline: 2,
      project_id: id,
    });
    const missing = await gantry.api(`GET /projects/${id}/search?scope=blobs&search=${word}&ref=none`, {
      as,
    });
    assert.equal(missing.status, 404);
    await gantry.api(`PUT /projects/${id}/members/${reader}`, { json: { access_level: 10 } });
    assert.deepEqual(await paths(word), [], 'a guest may not read the code');
  });

  it('leaves out the content of binary and of large files', async () => {
    const word = unique('large');
    const { id } = await seedProject(gantry);
    await seedCommit(gantry, id, {
      binary: `${word}\0`,
      large: `${word}${'x'.repeat(256 * 1024)}`,
      small: word,
    });
    assert.deepEqual(await findPaths(word), ['small']);
    assert.deepEqual(await findPaths('binary', `/projects/${id}`), ['binary']);
  });
});

describe('the index of code', () => {
  it('follows changes, deletions and forced pushes of the default branch alone', async () => {
    const [old, fresh, side] = [unique('old'), unique('fresh'), unique('side')];
    const { id } = await seedProject(gantry);
    const first = await seedCommit(gantry, id, { a: old, b: old });
    assert.deepEqual(await findPaths(old), ['a', 'b']);
    await seedCommit(gantry, id, { a: fresh, b: null, c: fresh });
    await seedCommit(gantry, id, { d: side }, { branch: 'side', from: 'main' });
    assert.deepEqual([await findPaths(old), await findPaths(fresh)], [[], ['a', 'c']]);
    assert.deepEqual(await findPaths(side), []);
    await seedCommit(gantry, id, { e: fresh }, { onto: first });
    assert.deepEqual([await findPaths(old), await findPaths(fresh)], [['a', 'b'], ['e']]);
    const changed = await gantry.api(`PUT /projects/${id}`, { json: { default_branch: 'side' } });
    assert.equal(changed.status, 200);
    assert.deepEqual(await findPaths(side), ['d']);
    assert.deepEqual([await findPaths(old), await findPaths(fresh)], [[], ['a', 'c']]);
  });

  it('has the code of forks, and not that of removed projects', async () => {
    const word = unique('forked');
    const { id } = await seedProject(gantry);
    await seedCommit(gantry, id, { a: word });
    const names = { name: unique('fork'), path: unique('fork') };
    const fork = await gantry.api(`POST /projects/${id}/fork`, { json: names });
    assert.equal(fork.status, 201, fork.text);
    assert.deepEqual(await findPaths(word), ['a', 'a']);
    assert.equal((await gantry.api(`DELETE /projects/${id}`)).status, 202);
    assert.equal((await search(`/search?scope=blobs&search=${word}`)).total, 1);
    assert.deepEqual(await findPaths(word), ['a']);
    const { db } = gantry.service.platform.store;
    const left = await db.selectFrom('code_files').select('id').where('project_id', '=', id).execute();
    assert.deepEqual(left, []);
  });

  it('shows only code that the caller may read, and archived projects on request', async () => {
    const word = unique('hidden');
    const group = await seedGroup(gantry);
    const at = { namespace: group.id };
    const open = await seedProject(gantry, at);
    const closed = await seedProject(gantry, { ...at, visibility: 'private' });
    const archived = await seedProject(gantry, at);
    for (const { id } of [open, closed, archived]) await seedCommit(gantry, id, { [`f${id}`]: word });
    await gantry.api(`POST /projects/${archived.id}/archive`);
    assert.deepEqual(await findPaths(word), [`f${open.id}`]);
    assert.deepEqual(await findPaths(word, `/groups/${group.id}`), [`f${open.id}`]);
    assert.deepEqual(await findPaths(word, `/projects/${archived.id}`), [`f${archived.id}`]);
    assert.equal((await search(`/search?scope=blobs&search=${word}&include_archived=true`)).total, 2);
    const member = await seedUser(gantry);
    await seedMember(gantry, { user: member.id, project: closed.id, access_level: 10 });
    assert.deepEqual(await findPaths(word, '', member.token), [`f${open.id}`]);
    const reporter = await seedUser(gantry);
    await seedMember(gantry, { user: reporter.id, project: closed.id, access_level: 20 });
    assert.deepEqual(await findPaths(word, '', reporter.token), [`f${open.id}`, `f${closed.id}`]);
    await gantry.api(`PUT /projects/${open.id}`, { json: { repository_access_level: 'private' } });
    assert.deepEqual(await findPaths(word), []);
    assert.deepEqual(await findPaths(word, `/projects/${open.id}`), []);
    const elsewhere = await seedGroup(gantry);
    assert.deepEqual(await findPaths(word, `/groups/${elsewhere.id}`, reporter.token), []);
  });
});

describe('without an index of trigrams', { skip: engine !== 'postgres' }, () => {
  it('searches one project and refuses to search all', async () => {
    const own = await startTestService();
    await sql`drop index code_files_trigrams`.execute(own.service.platform.store.db);
    const { id } = await seedProject(own);
    await seedCommit(own, id, { a: 'needle' });
    await own.service.worker.drain();
    const found = await own.api(`GET /projects/${id}/search?scope=blobs&search=needle`);
    assert.deepEqual([found.status, found.body.length], [200, 1]);
    const refused = await own.api('GET /search?scope=blobs&search=needle');
    const scope = ['is available in projects only: the database has no index of code'];
    assert.deepEqual([refused.status, refused.body], [400, { message: { scope } }]);
    await own.close();
  });
});
