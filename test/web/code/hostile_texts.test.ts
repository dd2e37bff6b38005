/**
 * Attacks in every text that a page shows, besides Markdown: names, titles, messages, paths, content. Chromium parses the
 * pages without their policy, and finds nothing that could act.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { moveRefs } from '../../../src/code/repository/refs/move_refs.ts';
import { zeroOid } from '../../../src/platform/git/protocol_types.ts';
import { getRepositoryPlace, openRepository, seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedMember, seedProject, unique } from '../../support/seed.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { openVisitor } from '../../support/visitor.ts';
import { type Web, openWeb, password, skip } from '../web.ts';

/** Leaves attributes, elements whose content is text, comments, and the text itself. */
const attack = `"'><img src=x onerror=alert(1)><svg onload=alert(2)></title></textarea></script><script>alert(3)</script><!--`;
/** Without what names of refs must not contain. */
const refAttack = `"'><img/src=x/onerror=alert(1)><script>alert(2)</script>`;

let web: Web;
let pages: Map<string, string>;

const post = async (line: string, json: object): Promise<{ id: number; iid: number }> => {
  const { status, body, text } = await web.gantry.api(`POST ${line}`, { json });
  assert.ok(status === 201, `${line}: ${status} ${text}`);
  return body;
};

/** Commits in the name of an author whose name is the attack. */
const commitByAttacker = async (id: number, parent: string): Promise<string> => {
  const { gantry } = web;
  const repository = await openRepository(gantry, id);
  const signature = {
    name: attack.replaceAll(/[<>]/g, ''),
    email: 'a@example.com',
    time: 1_500_000_001,
    offset: '+0000',
  };
  const made = await repository.ask('commit.actions', {
    parent,
    actions: [{ action: 'delete', file_path: 'gone' }],
    message: `${attack}\n\n${attack}`,
    author: signature,
    committer: signature,
  });
  assert.ok('id' in made);
  await moveRefs(gantry.service.platform, {
    project: await getRepositoryPlace(gantry, id),
    cause: { user: { id: 1 }, sudo_by_id: null },
    kind: 'commit',
    updates: [{ ref: 'refs/heads/main', old: parent, new: made.id }],
  });
  return made.id;
};

const seedHostile = async (username: string, userId: number): Promise<string[]> => {
  const { gantry } = web;
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  await seedMember(gantry, { user: userId, project: id, access_level: 40 });
  await gantry.api(`PUT /projects/${id}`, { json: { description: attack } });
  const first = await seedCommit(gantry, id, {
    gone: '',
    LICENSE: `License ${attack.slice(0, 40)}\n${attack}`,
    'README.txt': attack,
    [`d/${refAttack}.js`]: `const a = ${attack};\n`,
    [`d/${attack.replaceAll('/', '')}`]: attack,
    'page.html': attack,
    'image.svg': attack,
    pointer: `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 1\nx ${attack}\n`,
  });
  const sha = await commitByAttacker(id, first);
  const updates = [
    { ref: `refs/heads/${refAttack}`, old: zeroOid, new: first },
    { ref: `refs/tags/${refAttack}`, old: zeroOid, new: first },
  ];
  const project = await getRepositoryPlace(gantry, id);
  const cause = { user: { id: 1 }, sudo_by_id: null };
  await moveRefs(gantry.service.platform, { project, cause, kind: 'commit', updates });
  await settle(gantry);
  const label = refAttack.replaceAll(',', '');
  await post(`/projects/${id}/labels`, { name: label, color: '#336699', description: attack });
  const milestone = await post(`/projects/${id}/milestones`, { title: attack, description: attack });
  const issue = await post(`/projects/${id}/issues`, {
    title: attack,
    description: attack,
    labels: label,
    milestone_id: milestone.id,
  });
  await post(`/projects/${id}/issues/${issue.iid}/notes`, { body: attack });
  const snippet = await post(`/projects/${id}/snippets`, {
    title: attack,
    file_name: 'a.js',
    code: attack,
    visibility: 'public',
  });
  await post(`/projects/${id}/statuses/${sha}`, {
    state: 'failed',
    ref: 'main',
    name: attack,
    description: attack,
    context: attack.slice(0, 200),
  });
  const file = encodeURIComponent(`${refAttack}.js`).replaceAll('%2F', '/');
  const other = encodeURIComponent(attack.replaceAll('/', ''));
  const branch = refAttack.split('/').map(encodeURIComponent).join('/');
  const root = `/${full_path}`;
  return [
    root,
    `${root}/tree/main/d`,
    `${root}/tree/${branch}`,
    `${root}/-/blob/main/d/${file}`,
    `${root}/-/blob/main/d/${other}`,
    `${root}/-/blob/main/page.html`,
    `${root}/-/blob/main/image.svg`,
    `${root}/-/blob/main/pointer`,
    `${root}/-/blame/main/d/${file}`,
    `${root}/-/edit/main/d/${file}`,
    `${root}/-/delete/main/d/${file}`,
    `${root}/-/upload/main/d/${other}`,
    `${root}/-/commits/main`,
    `${root}/-/commits/main?search=${encodeURIComponent(attack)}`,
    `${root}/commit/${sha}`,
    `${root}/commit/${first}?refs=1`,
    `${root}/compare/${first}...main`,
    `${root}/compare/${encodeURIComponent(attack)}`,
    `${root}/-/branches?state=all`,
    `${root}/-/branches?search=${encodeURIComponent(attack)}`,
    `${root}/-/tags`,
    `${root}/-/tags/${encodeURIComponent(refAttack)}`,
    `${root}/-/find_file/main?search=${encodeURIComponent('img')}`,
    `${root}/-/graphs/main`,
    `${root}/issues`,
    `${root}/issues/${issue.iid}`,
    `${root}/-/labels`,
    `${root}/-/milestones`,
    `${root}/-/milestones/${milestone.iid}`,
    `${root}/snippets/${snippet.id}`,
    `${root}/-/pipelines`,
    `${root}/-/jobs`,
    `${root}/tree/main?search_refs=${encodeURIComponent(attack)}`,
    `/${username}`,
    '/dashboard/issues',
    `/explore?search=${encodeURIComponent(attack)}`,
    '/',
  ];
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const username = unique('user');
  const json = { username, name: attack, email: `${username}@example.com`, password, bio: attack };
  const { body } = await web.gantry.api('POST /users', { json });
  const visitor = openVisitor(web.gantry);
  await visitor.signIn(username, password);
  pages = new Map();
  for (const path of await seedHostile(username, body.id)) {
    const { status, text } = await visitor.get(path);
    assert.ok(status === 200 || status === 422, `${path}: ${status}`);
    pages.set(path, text);
  }
});
after(async () => {
  if (skip === false) await web.close();
});

/** Runs in the page: parses texts as documents, and returns what could act in each. */
const findActive = (texts: readonly [string, string][]): string[] => {
  type Found = { tagName: string; attributes: Iterable<{ name: string; value: string }>; outerHTML: string };
  type Parser = {
    parseFromString: (text: string, type: string) => { querySelectorAll: (all: string) => Iterable<Found> };
  };
  const { DOMParser } = globalThis as unknown as { DOMParser: new () => Parser };
  return texts.flatMap(([path, text]) =>
    [...new DOMParser().parseFromString(text, 'text/html').querySelectorAll('*')].flatMap((one) => {
      const attributes = [...one.attributes];
      const isActive = attributes.some(
        ({ name, value }) =>
          /^on|^style$|^srcdoc$|^formaction$/i.test(name) || /^\s*(?:javascript|data|vbscript):/i.test(value),
      );
      const source = attributes.find(({ name }) => name === 'src')?.value ?? '';
      const isForeign =
        (one.tagName === 'SCRIPT' && !source.startsWith('/-/assets/')) ||
        (one.tagName === 'IMG' && !source.startsWith('/')) ||
        ['IFRAME', 'OBJECT', 'EMBED', 'STYLE', 'BASE'].includes(one.tagName);
      return isActive || isForeign ? [`${path}: ${one.outerHTML.slice(0, 200)}`] : [];
    }),
  );
};

test('no page contains what a text tried to add', { skip }, async () => {
  assert.ok(pages.size > 30);
  const attacked = [...pages].filter(([, text]) => text.includes('onerror=alert(1)'));
  assert.ok(attacked.length > 25, `the attack is shown on ${attacked.length} pages`);
  await web.withPage(async (page) => {
    await page.goto('/robots.txt');
    assert.deepEqual(await page.evaluate(findActive, [...pages]), []);
    const control: [string, string][] = [['control', '<p><img src=x onerror=alert(1)>']];
    assert.equal((await page.evaluate(findActive, control)).length, 1);
  });
});
