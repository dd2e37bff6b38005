/** Changelogs: which commits they name, how templates and configurations act, and where sections are inserted. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { parseTemplate, renderTemplate } from './template.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** A project whose first commit has the tag v1.0.0. */
const newProject = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  const path = `/projects/${project.id}`;
  const first = await seedCommit(gantry, project.id, { a: '0' }, { message: 'First\n\nChangelog: added\n' });
  const json = { tag_name: 'v1.0.0', ref: 'main' };
  assert.equal((await gantry.api(`POST ${path}/repository/tags`, { json })).status, 201);
  let count = 0;
  const commit = async (message: string, files: Record<string, string> = { a: String((count += 1)) }) =>
    await seedCommit(gantry, project.id, files, { message });
  const notes = async (query = 'version=1.1.0&date=2021-01-05') =>
    await gantry.api(`GET ${path}/repository/changelog?${query}`, { as: null });
  const fileOf = async (file = 'CHANGELOG.md', ref = 'main'): Promise<string> =>
    (await gantry.api(`GET ${path}/repository/files/${file}/raw?ref=${ref}`)).text;
  return { ...project, path, first, commit, notes, fileOf };
};

const failure = (reason: string) => ({ message: `Failed to generate the changelog: ${reason}` });

describe('the notes of a version', () => {
  it('name commits by category, with their links', async () => {
    const { commit, notes, full_path } = await newProject();
    const url = `${gantry.url}/${full_path}/-/commit`;
    const [one, , three] = [
      await commit('Add spans\n\nLonger text.\n\nChangelog: added\nSigned-off-by: Ada <ada@example.com>\n'),
      await commit('Without a trailer'),
      await commit('Fix [piers]\n\nChangelog: fixed\n'),
    ];
    await commit('Not a trailer\n\nChangelog: added\nbut words\n');
    const { status, body } = await notes();
    assert.deepEqual(
      [status, body.notes],
      [
        200,
        `## 1.1.0 (2021-01-05)

### fixed (1 change)

- [Fix [piers]](${url}/${three})

### added (1 change)

- [Add spans](${url}/${one})
`,
      ],
    );
  });

  it('leave out what was reverted in the range', async () => {
    const { commit, notes } = await newProject();
    const kept = await commit('Kept\n\nChangelog: added\n');
    const gone = await commit('Gone\n\nChangelog: added\n');
    await commit(`Revert "Gone"\n\nThis reverts commit ${gone}.\n`);
    const { body } = await notes();
    assert.deepEqual([body.notes.includes(kept), body.notes.includes(gone)], [true, false]);
  });

  it('begin after the highest lower version that is no pre-release, or where the caller says', async () => {
    const { path, commit, notes, first } = await newProject();
    await commit('Second\n\nChangelog: added\n');
    for (const tag_name of ['v1.2.0-rc1', 'other', 'v2.0.0'])
      await gantry.api(`POST ${path}/repository/tags`, { json: { tag_name, ref: 'main' } });
    await commit('Third\n\nChangelog: added\n');
    const titles = async (query: string): Promise<string[]> =>
      [...(await notes(query)).body.notes.matchAll(/^- \[(\w+)\]/gm)].map(([, title = '']) => title);
    assert.deepEqual(await titles('version=1.2.0'), ['Third', 'Second']);
    assert.deepEqual(await titles('version=3.0.0'), ['Third']);
    assert.deepEqual(await titles(`version=3.0.0&from=${first}&to=v2.0.0`), ['Second']);
    const none = await notes('version=0.9.0');
    assert.deepEqual(
      [none.status, none.body],
      [
        422,
        failure('The commit start range is unspecified, and no previous tag could be found to use instead'),
      ],
    );
    assert.equal((await notes('version=3.0.0&from=missing')).status, 404);
    assert.equal((await notes('version=three')).status, 400);
    assert.equal((await notes('version=3.0.0&trailer=a%20b')).status, 400);
    assert.equal((await notes()).body.notes.includes('No changes.'), false);
    assert.ok((await notes('version=3.0.0&trailer=Other')).body.notes.endsWith('\n\nNo changes.\n'));
  });

  it('credit authors who are no members and publish their address, and link merged requests', async () => {
    const { path, commit, notes, id } = await newProject();
    const user = await seedUser(gantry, { username: 'ada' });
    await commit('By Ada\n\nChangelog: added\n');
    assert.equal((await notes()).body.notes.includes('@'), false, 'the address is not public');
    await gantry.api(`PUT /users/${user.id}`, { json: { public_email: 'ada@example.com' } });
    assert.ok((await notes()).body.notes.includes(` by @${user.username}\n`));
    await gantry.api(`PUT /users/${user.id}`, { json: { admin: true } });
    assert.ok((await notes()).body.notes.includes(` by @${user.username}\n`));
    await seedMember(gantry, { user: user.id, project: id, access_level: 30 });
    assert.equal((await notes()).body.notes.includes('@'), false);
    const branch = { branch: 'topic', start_branch: 'main', commit_message: 'Topic\n\nChangelog: added\n' };
    const actions = [{ action: 'create', file_path: 'topic', content: 'x' }];
    await gantry.api(`POST ${path}/repository/commits`, { json: { ...branch, actions } });
    const json = { source_branch: 'topic', target_branch: 'main', title: 'Topic' };
    const { iid } = (await gantry.api(`POST ${path}/merge_requests`, { json })).body;
    await gantry.service.worker.drain();
    const merged = await gantry.api(`PUT ${path}/merge_requests/${iid}/merge`);
    assert.equal(merged.status, 200, merged.text);
    assert.match(
      (await notes()).body.notes,
      /^- \[Topic\]\(\S+\) \(\[merge request\]\(\S+\/merge_requests\/1\)\)$/m,
    );
  });
});

describe('the configuration', () => {
  it('names categories, their order, the date and the template', async () => {
    const { commit, notes } = await newProject();
    const template =
      '{% each categories %}\n*{{ title }}*\\\n {{ entries.0.commit.trailers.Issue }}\n{% end %}';
    const config = { date_format: '%d %b %Y', categories: { fixed: 'Bugs', added: 'Features' }, template };
    await commit('Configure', { '.gitlab/changelog_config.yml': JSON.stringify(config) });
    await commit('Fix\n\nChangelog: fixed\nIssue: #7\n');
    await commit('Add\n\nChangelog: added\n');
    const { status, body, text } = await notes();
    assert.deepEqual([status, body.notes], [200, '## 1.1.0 (05 Jan 2021)\n\n*Bugs* #7\n*Features*\n'], text);
  });

  it('is refused with a reason where it is not understood', async () => {
    const { commit, notes } = await newProject();
    const cases = [
      ['a: [', 'the configuration is not valid YAML'],
      ['- a', 'the configuration must be a mapping'],
      ['template: "{% if a %}"', 'the template lacks {% end %}'],
      ['template: "{% unless a %}{% end %}"', 'the template has an unexpected tag: {% unless a %}'],
      ['template: "{{ a b }}"', 'the template names no variable: a b'],
      ["date_format: '%Q'", 'date_format has an unknown directive: %Q'],
      ["tag_regex: '('", 'tag_regex of the configuration is invalid'],
      ['include_groups: [a]', 'include_groups of the configuration is not supported'],
      ['categories: []', 'categories of the configuration must map names to titles'],
    ] as const;
    for (const [text, reason] of cases) {
      await commit('Configure', { 'other.yml': text });
      const { status, body } = await notes('version=1.1.0&config_file=other.yml');
      assert.deepEqual([status, body], [422, failure(reason)]);
    }
  });
});

describe('the template language', () => {
  it('has values, conditions and loops', () => {
    const write = (text: string, data: object): string => renderTemplate(parseTemplate(text), data as never);
    assert.equal(write('{{a.0.b}} {{c}}{{a.length}}{{constructor}}', { a: [{ b: 1 }] }), '1 ');
    assert.equal(write('---\n{% if a %}\nyes\n{% else %}\nno\n{% end %}\n---', { a: [] }), '---\nno\n---');
    assert.equal(write('{% each a %}{{ it }},{% end %}', { a: ['x', 'y'] }), 'x,y,');
    assert.equal(write('a\\\nb', {}), 'ab');
  });

  it('a template that is too deep or too long is refused', () => {
    const deep = `${'{% if a %}'.repeat(30)}${'{% end %}'.repeat(30)}`;
    assert.throws(() => parseTemplate(deep), /nests too deeply/);
    assert.throws(() => parseTemplate('x'.repeat(70_000)), /too long/);
    const long = parseTemplate(`{% each a %}${'x'.repeat(60_000)}{% end %}`);
    assert.throws(() => renderTemplate(long, { a: Array.from({ length: 100 }, () => 1) }), /too long/);
  });
});

describe('adding to the changelog', () => {
  it('creates the file, then inserts sections by version', async () => {
    const { path, commit, fileOf } = await newProject();
    await commit('Second\n\nChangelog: added\n');
    const add = async (json: object) => {
      const reply = await gantry.api(`POST ${path}/repository/changelog`, { json });
      assert.deepEqual([reply.status, reply.text], [200, ''], reply.text);
    };
    await add({ version: '2.0.0', date: '2021-02-01' });
    await add({ version: '1.1.0', date: '2021-03-01' });
    await add({ version: '1.5.0', date: '2021-04-01', message: 'Notes' });
    assert.deepEqual((await fileOf()).match(/^## .*$/gm), [
      '## 2.0.0 (2021-02-01)',
      '## 1.5.0 (2021-04-01)',
      '## 1.1.0 (2021-03-01)',
    ]);
    const [last, before] = (await gantry.api(`GET ${path}/repository/commits`)).body;
    assert.deepEqual([last.message, before.message], ['Notes', 'Add changelog for version 1.1.0']);
    await gantry.api(`POST ${path}/repository/branches`, { json: { branch: 'notes', ref: 'v1.0.0' } });
    await add({ version: '1.1.0', branch: 'notes', file: 'docs/NEWS' });
    assert.match(await fileOf('docs%2FNEWS', 'notes'), /^## 1\.1\.0 .*\n\n### added/);
  });

  it('requires the right to push, and shows nothing of hidden projects', async () => {
    const { path, notes } = await newProject('private');
    const stranger = await seedUser(gantry);
    const json = { version: '1.1.0' };
    assert.equal((await gantry.api(`POST ${path}/repository/changelog`, { json, as: null })).status, 401);
    assert.equal(
      (await gantry.api(`POST ${path}/repository/changelog`, { json, as: stranger.token })).status,
      404,
    );
    assert.equal((await notes()).status, 404);
    for (const file of ['../x', '.git/config']) {
      const refused = await gantry.api(`POST ${path}/repository/changelog`, { json: { ...json, file } });
      assert.equal(refused.status, 400, refused.text);
    }
  });
});
