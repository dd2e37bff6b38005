/** References link for those who may see the target; for others they are the text as written, hidden or missing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedUser,
  unique,
} from '../../../../test/support/seed.ts';
import { openRequest, seedBranch, seedCoded } from '../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
/** A public project and a private one of the same group. */
let open: SeededProject & { first: string };
let closed: SeededProject & { first: string };
let member: SeededUser;
let stranger: SeededUser;
/** Address and text of everything that is named, by what is written. */
let targets: Record<string, { href: string; title: string; text: string }>;

const create = async (line: string, json: object): Promise<{ id: number; iid: number }> => {
  const { status, body, text } = await gantry.api(`POST ${line}`, { json });
  assert.equal(status, 201, text);
  return body;
};

const seedTargets = async (project: SeededProject & { first: string }): Promise<typeof targets> => {
  const { id, full_path: path, first } = project;
  const issue = await seedIssue(gantry, { project: id, title: `Issue <of> "${path}"` });
  const branch = unique('branch');
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch, { title: `Request of ${path}` });
  const code = { title: `Snippet of ${path}`, file_name: 'a', code: 'b', visibility: 'public' };
  const snippet = await create(`/projects/${id}/snippets`, code);
  await create(`/projects/${id}/labels`, {
    name: 'two words',
    color: '#aabbcc',
    description: `Label of ${path}`,
  });
  const version = `v1 ${project.path}`;
  const milestone = await create(`/projects/${id}/milestones`, { title: version });
  const make = (page: string, title: string, text: string) => ({
    href: `${gantry.url}/${page}`,
    title,
    text,
  });
  const milestonePage = `${path}/-/milestones/${milestone.iid}`;
  return {
    [`${path}#${issue.iid}`]: make(
      `${path}/issues/${issue.iid}`,
      `Issue <of> "${path}"`,
      `${path}#${issue.iid}`,
    ),
    [`${path}!${request.iid}`]: make(
      `${path}/merge_requests/${request.iid}`,
      `Request of ${path}`,
      `${path}!${request.iid}`,
    ),
    [`${path}$${snippet.id}`]: make(
      `${path}/snippets/${snippet.id}`,
      `Snippet of ${path}`,
      `${path}$${snippet.id}`,
    ),
    [`${path}~"two words"`]: make(`${path}/-/issues?label_name=two%20words`, `Label of ${path}`, 'two words'),
    [`${path}%"${version}"`]: make(milestonePage, version, `%${version}`),
    [`${path}%${milestone.iid}`]: make(milestonePage, version, `%${version}`),
    [`${path}@${first.slice(0, 10)}`]: make(
      `${path}/-/commit/${first}`,
      'Change README.md',
      `${path}@${first.slice(0, 8)}`,
    ),
    [`${gantry.url}/${path}/-/issues/${issue.iid}`]: make(
      `${path}/issues/${issue.iid}`,
      `Issue <of> "${path}"`,
      `${path}#${issue.iid}`,
    ),
  };
};

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  const group = await seedGroup(gantry);
  [open, closed] = [
    await seedCoded(gantry, { namespace: group.id }),
    await seedCoded(gantry, { namespace: group.id, visibility: 'private' }),
  ];
  [member, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  for (const { id } of [open, closed])
    await seedMember(gantry, { user: member.id, project: id, access_level: 30 });
  targets = { ...(await seedTargets(closed)), ...(await seedTargets(open)) };
});
after(async () => await gantry.close());

const entities: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
  '&#39;': "'",
};
const decode = (html: string): string =>
  html.replaceAll(/&[a-z#\d]+;/g, (entity) => entities[entity] ?? entity);

/** Renders a text of the open project, within its paragraph. */
const render = async (
  text: string,
  as: string | null = member.token,
  project: SeededProject | null = open,
) => {
  const json = { text, gfm: true, ...(project !== null && { project: project.full_path }) };
  const { status, body } = await gantry.api('POST /markdown', { as, json });
  assert.equal(status, 201);
  return decode(/^<p dir="auto">(.*)<\/p>$/s.exec(body.html.trim())?.[1] ?? '');
};

const link =
  /^<a href="([^"]*)" class="gfm gfm-\w+" title="(.*?)"(?: data-color="#[0-9a-f]{6}")?>(.*)<\/a>$/s;

test('links everything that the viewer sees, with its title', async () => {
  for (const [written, expected] of Object.entries(targets)) {
    const [, href, title, text] = link.exec(await render(written, member.token, null)) ?? [];
    assert.deepEqual({ href, title, text }, expected, written);
  }
});

test('a reference without a path means the project of the text', async () => {
  const own = Object.entries(targets).filter(([written]) => written.startsWith(open.full_path));
  for (const [written, { href }] of own) {
    const short = written.slice(open.full_path.length).replace(/^@/, '');
    assert.equal(link.exec(await render(short))?.[1], href, short);
    const fromOther = written.slice(open.full_path.lastIndexOf('/') + 1);
    assert.equal(link.exec(await render(fromOther, member.token, closed))?.[1], href, fromOther);
  }
  assert.equal(
    link.exec(await render(`${gantry.url}/${open.full_path}/-/issues/1#note_7`))?.[3],
    '#1 (comment 7)',
  );
});

test('shows what is hidden as what is missing', async () => {
  const missing = `${closed.full_path}-no`;
  const hidden = Object.keys(targets).filter((written) => written.includes(closed.full_path));
  assert.equal(hidden.length, 8);
  for (const written of hidden) {
    for (const as of [stranger.token, null]) {
      const [shown, other] = [
        await render(written, as),
        await render(written.replace(closed.full_path, missing), as),
      ];
      assert.equal(shown.replaceAll(closed.full_path, missing), other, written);
      assert.doesNotMatch(shown, /title=|class=/);
    }
  }
  const all = hidden.join(' and ');
  assert.equal((await render(all, stranger.token)).includes('title='), false);
});

test('hides confidential issues from those who may not see them', async () => {
  const { iid } = await seedIssue(gantry, { project: open.id, title: 'Hidden', confidential: 1 });
  assert.equal(await render(`#${iid}`, stranger.token), `#${iid}`);
  assert.match(await render(`#${iid}`, member.token), /title="Hidden"/);
});

test('links users for signed-in viewers, in any case, and not within addresses', async () => {
  const { username } = stranger;
  const html = await render(`@${username.toUpperCase()}, a@${username} @nobody-here`, stranger.token, null);
  assert.match(
    html,
    new RegExp(
      `^<a href="[^"]+/${username}" class="gfm gfm-project_member" title="[^"]+">@${username.toUpperCase()}</a>, a@${username} @nobody-here$`,
    ),
  );
  assert.equal(await render(`@${username}`, null, null), `@${username}`);
});

test('links groups and subgroups that the viewer sees; others are the text as written', async () => {
  const top = await seedGroup(gantry);
  const inner = await seedGroup(gantry, { parent: top.id });
  const hidden = await seedGroup(gantry, { parent: top.id, visibility: 'private' });
  await seedMember(gantry, { user: member.id, group: hidden.id, access_level: 10 });
  const linked = (path: string): string =>
    `<a href="${gantry.url}/groups/${path}" class="gfm gfm-project_member" title="${path.split('/').at(-1)}">@${path}</a>`;
  const text = (link: (path: string) => string) =>
    `${link(top.full_path)} and ${link(inner.full_path)}, ${link(hidden.full_path)}.`;
  const written = text((path) => `@${path}`);
  assert.equal(await render(written), text(linked));
  const partly = text((path) => (path === hidden.full_path ? `@${path}` : linked(path)));
  for (const as of [stranger.token, null]) assert.equal(await render(written, as, null), partly);
  const none = `@${top.path}/nothing-here a@${inner.full_path} @${stranger.username}/x`;
  assert.equal(await render(none), none);
  const shouted = `@${inner.full_path.toUpperCase()}`;
  assert.equal(link.exec(await render(shouted))?.[3], shouted);
});

test('finds labels and milestones of the groups above; labels of the project take precedence', async () => {
  const title = unique('both');
  await create(`/projects/${closed.id}/labels`, { name: title, color: '#222222' });
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const row = { title, description: null, priority: null, created_at: now, updated_at: now };
    const ofGroup = { ...row, project_id: null, group_id: open.namespace_id, color: '#111111' };
    await db.insertInto('labels').values(ofGroup).execute();
  });
  assert.match(await render(`~${title}`), /data-color="#111111"/);
  assert.match(await render(`~${title}`, member.token, closed), /data-color="#222222"/);
  const name = unique('group');
  const { iid } = await create(`/groups/${open.namespace_id}/milestones`, { title: name });
  assert.match(await render(`%${name}`), new RegExp(`/groups/[^"]+/-/milestones/${iid}"`));
  const none = '~"no such" ~99999999 %"none" %99999';
  assert.equal(await render(none), none);
});

test('finds no reference where the record or its feature is gone', async () => {
  const { iid } = await seedIssue(gantry, { project: open.id });
  assert.match(await render(`#${iid}`, null), /^<a /);
  assert.equal((await gantry.api(`DELETE /projects/${open.id}/issues/${iid}`)).status, 204);
  assert.equal(await render(`#${iid}`), `#${iid}`);
  const closedRequest =
    Object.keys(targets).find((written) => written.startsWith(`${open.full_path}!`)) ?? '';
  assert.match(await render(closedRequest, null), /^<a /);
  await gantry.api(`PUT /projects/${open.id}`, { json: { merge_requests_access_level: 'private' } });
  assert.equal(await render(closedRequest, stranger.token), closedRequest);
  assert.match(await render(closedRequest, member.token), /^<a /);
});

test('a text is converted once, and its references are resolved for each viewer', async () => {
  const text = `the same ${closed.full_path}#1 in every text`;
  assert.match(await render(text, member.token), /title="Issue/);
  assert.doesNotMatch(await render(text, stranger.token), /title=/);
  assert.match(await render(text, member.token), /title="Issue/);
});

type Line = { msg: string; statements: number };

test('takes as many statements for many references as for one of each kind', async () => {
  const count = async (text: string): Promise<number> => {
    await render(text);
    const lines = gantry.logged().map((line) => JSON.parse(line) as Line);
    return lines.findLast(({ msg }) => msg === 'request')?.statements ?? NaN;
  };
  const list = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, at) => {
      const [n, path] = [from + at, at % 2 === 0 ? open.full_path : closed.full_path];
      const sha = (0x1234567 + n).toString(16);
      return `${path}#${n} ${path}!${n} ${path}$${n} ${path}~${n} ${path}%${n} ${path}@${sha} @user${n} @group/${n}`;
    }).join(' ');
  await count(list(1, 3));
  assert.equal(await count(list(3, 40)), await count(list(40, 42)));
});
