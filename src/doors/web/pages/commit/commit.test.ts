/** Tests the page of a commit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedIssue, seedMember, seedMergeRequest, seedProject } from '../../../../../test/support/seed.ts';
import { openRequest, settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import { type ShownDiscussion, placeComments } from './load_comments.ts';

let gantry: TestService;
let user: Visitor;
let userId: number;
let username: string;

before(async () => {
  gantry = await startTestService();
  ({ id: userId, username, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const newProject = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  const first = await seedCommit(gantry, project.id, { a: 'one\ntwo\n', spaces: 'a b\n', gone: 'x\n' });
  const message = 'Change <it>\n\nThe reason & more.';
  const second = await seedCommit(
    gantry,
    project.id,
    { a: 'one\n<three>\n', spaces: 'a  b\n', gone: null, 'new.txt': 'n\n' },
    { message },
  );
  return { ...project, first, second, commit: `/${project.full_path}/commit` };
};

test('shows the message, the parent and the diff at its web_url', async () => {
  const { id, first, second, commit } = await newProject();
  const { body } = await gantry.api(`GET /projects/${id}/repository/commits/${second}`);
  const { status, text } = await user.get(new URL(body.web_url).pathname);
  assert.equal(status, 200);
  assert.ok(text.includes('<h1>Change &lt;it&gt;</h1>') && text.includes('The reason &amp; more.'), text);
  assert.ok(text.includes(`href="${commit}/${first}"`), 'the parent');
  assert.ok(text.includes('4 changed files'));
  assert.ok(text.includes('&lt;<mark>') || text.includes('&lt;three&gt;'));
  for (const note of ['added', 'deleted'])
    assert.ok(text.includes(`<span class="badge">${note}</span>`), note);
  assert.ok((await user.get(`${commit}/${first}`)).text.includes('none: a first commit'));
});

test('links what the message refers to, for those who may see it', async () => {
  const { id, first, commit, full_path } = await newProject();
  const hidden = await newProject('private');
  const issue = await seedIssue(gantry, { project: id });
  const secret = await seedIssue(gantry, { project: hidden.id, title: 'Secret plan' });
  const confidential = await seedIssue(gantry, { project: id, title: 'Covert', confidential: 1 });
  const request = await seedMergeRequest(gantry, { project: id });
  const message = `Close #${issue.iid} <now> of ${full_path}#${issue.iid}

Reverts ${first.slice(0, 12)}, see !${request.iid}, #${confidential.iid} & #999.
By @${username} for ${hidden.full_path}#${secret.iid}.`;
  const sha = await seedCommit(gantry, id, { a: 'b\n' }, { message });
  const { text } = await user.get(`${commit}/${sha}`);
  const link = `<a href="/${full_path}/issues/${issue.iid}"`;
  assert.ok(text.includes(`<h1>Close ${link}`), text);
  assert.match(text, new RegExp(`<h1>[^\\n]*&lt;now&gt; of ${link}[^>]*>${full_path}#${issue.iid}</a></h1>`));
  assert.match(
    text,
    new RegExp(`Reverts <a href="/${full_path}/-/commit/${first}"[^>]*>${first.slice(0, 12)}</a>`),
  );
  assert.match(text, new RegExp(`see <a href="/${full_path}/merge_requests/${request.iid}"`));
  assert.ok(text.includes(`#${confidential.iid} &amp; #999.\nBy <a href="/${username}"`));
  assert.ok(text.includes(`</a> for ${hidden.full_path}#${secret.iid}.</pre>`));
  assert.ok(!text.includes('Secret plan') && !text.includes('Covert'));
  const anonymous = await openVisitor(gantry).get(`${commit}/${sha}`);
  assert.ok(anonymous.text.includes(`\nBy @${username} for`), 'users are named to those who have signed in');
});

test('shows the message as it was written, and links a bounded number of references', async () => {
  const { id, first, commit } = await newProject();
  await gantry.api(`POST /projects/${id}/labels`, { json: { name: 'bug', color: '#ff0000' } });
  const issue = await seedIssue(gantry, { project: id });
  const missing = Array.from({ length: 60 }, (_reference, at) => `#${at + 1_000}`).join(' ');
  const body = `Fixes ~bug of ${first}.`;
  const near = await seedCommit(gantry, id, { a: 'x\n' }, { message: `Title\n\n${body} See #${issue.iid}.` });
  const far = await seedCommit(gantry, id, { a: 'y\n' }, { message: `Title\n\n${missing} #${issue.iid}` });
  const shown = async (sha: string): Promise<string> =>
    /<pre class="body plain-text">([^]*?)<\/pre>/.exec((await user.get(`${commit}/${sha}`)).text)?.[1] ?? '';
  assert.equal((await shown(near)).replaceAll(/<[^>]+>/g, ''), `${body} See #${issue.iid}.`);
  assert.match(await shown(near), /<a [^>]*>~bug<\/a>[^]*<a [^>]*>#/);
  assert.doesNotMatch(await shown(far), /<a /);
});

test('ignores white space', async () => {
  const { second, commit } = await newProject();
  const all = (await user.get(`${commit}/${second}`)).text;
  const less = (await user.get(`${commit}/${second}?w=1`)).text;
  assert.deepEqual([all.includes('<mark> </mark>'), less.includes('<mark> </mark>')], [true, false]);
  // The texts of other files stay with their files.
  assert.match(less, /Diff of a"[^]*?&lt;three&gt;/);
  assert.match(less, /Diff of new\.txt"[^]*?<td>n/);
});

test('shows one file, and a large one only by a link', async () => {
  const { id, commit, full_path } = await newProject();
  const large = Array.from({ length: 30_000 }, (_line, at) => `line ${at}\n`).join('');
  const sha = await seedCommit(gantry, id, { large, small: 's\n' });
  const { text } = await user.get(`${commit}/${sha}`);
  assert.ok(text.includes(`href="/${full_path}/commit/${sha}?file=large#diff-`), 'collapsed');
  const one = (await user.get(`${commit}/${sha}?file=large`)).text;
  assert.ok(one.includes('line 29999') && !one.includes('Diff of small'));
});

/** Makes a commit that changes line 50 of 100, renames a file, and adds one. */
const newChange = async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const long = Array.from({ length: 100 }, (_line, at) => `line ${at + 1}\n`);
  const moved = 'same\nlines\nof\ntext\n';
  const first = await seedCommit(gantry, id, { 'src/long.txt': long.join(''), 'old.txt': moved });
  const sha = await seedCommit(gantry, id, {
    'src/long.txt': long.with(49, 'fifty\n').join(''),
    'old.txt': null,
    'lib/new.txt': `${moved}more\n`,
    'a.txt': 'a\n',
  });
  return { id, path: `/${full_path}/commit/${sha}`, compare: `/${full_path}/compare/${first}...${sha}` };
};

const cardIn = (text: string, file: string): string =>
  text
    .split('<section class="card diff-file"')
    .slice(1)
    .find((card) => card.includes(`data-path="${file}"`)) ?? '';

/** Follows a link of a card, as a browser without scripts does. */
const follow = async (card: string, pattern: RegExp): Promise<string> => {
  const address = pattern.exec(card)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(`${pattern} in ${card}`);
  const { status, text } = await user.get(address.split('#')[0] ?? '');
  assert.equal(status, 200);
  return text;
};

test('has a tree of the files, in the order of their cards', async () => {
  const { path } = await newChange();
  const { text } = await user.get(path);
  const tree = /<nav class="card file-tree"[^]*?<\/nav>/.exec(text)?.[0] ?? '';
  const listed = [...tree.matchAll(/data-file="([^"]+)" data-path="([^"]+)"/g)].map(([, id, name]) => [
    id,
    name,
  ]);
  const cards = [...text.matchAll(/<section class="card diff-file" id="([^"]+)"[^>]* data-path="([^"]+)"/g)];
  assert.deepEqual(
    listed,
    cards.map(([, id, name]) => [id, name]),
  );
  assert.deepEqual(
    listed.map(([, name]) => name),
    ['lib/new.txt', 'src/long.txt', 'a.txt'],
  );
  assert.match(tree, new RegExp(`href="#${listed[0]?.[0]}"`));
});

test('shows lines around a change, and the whole file', async () => {
  const { path } = await newChange();
  const card = cardIn((await user.get(path)).text, 'src/long.txt');
  assert.ok(!card.includes('>line 46\n'));
  const above = cardIn(await follow(card, /href="([^"]+)" title="Lines 27 to 46"/), 'src/long.txt');
  assert.ok(above.includes('>line 27\n') && above.includes('>line 46\n') && !above.includes('>line 26\n'));
  const more = cardIn(await follow(above, /href="([^"]+)" title="Lines 7 to 26"/), 'src/long.txt');
  assert.ok(more.includes('>line 7\n') && more.includes('>line 46\n'));
  const whole = cardIn(await follow(card, /href="([^"]+)" data-inline>Whole file/), 'src/long.txt');
  assert.ok(whole.includes('>line 1\n') && whole.includes('>line 100\n') && whole.includes('>fifty\n'));
  assert.ok(!whole.includes('Show the whole file'));
});

test('folds what .gitattributes of the commit says is generated, or has no diff', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const attributes = 'api/** linguist-generated\nyarn.lock -linguist-generated\n*.dump -diff\n';
  const first = await seedCommit(gantry, id, { '.gitattributes': '* linguist-generated\n' });
  const sha = await seedCommit(gantry, id, {
    '.gitattributes': attributes,
    'api/client.ts': 'const generated = 1;\n',
    'main.ts': 'const written = 1;\n',
    'yarn.lock': 'locked\n',
    'all.dump': 'dumped\n',
  });
  for (const address of [`/${full_path}/commit/${sha}`, `/${full_path}/compare/${first}...${sha}`]) {
    const { text } = await user.get(address);
    assert.match(cardIn(text, 'api/client.ts'), /Collapsed: the file is generated\./);
    assert.match(cardIn(text, 'all.dump'), /Collapsed by an entry of \.gitattributes\./);
    assert.ok(cardIn(text, 'main.ts').includes('written') && cardIn(text, 'yarn.lock').includes('locked'));
    const alone = await follow(cardIn(text, 'api/client.ts'), /href="([^"]+)" data-inline>Show this file/);
    assert.match(cardIn(alone, 'api/client.ts'), / generated = /);
  }
});

test('folds what the .gitattributes of folders say, the nearest file first', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  await seedCommit(gantry, id, { 'README.md': '# It\n' });
  const sha = await seedCommit(gantry, id, {
    '.gitattributes': '*.out linguist-generated\n',
    'lib/.gitattributes': 'made/** linguist-generated\n',
    'lib/deep/.gitattributes': '*.out -linguist-generated\n*.dump -diff\n',
    'lib/made/client.ts': 'made\n',
    'made/client.ts': 'written\n',
    'lib/a.out': 'made\n',
    'lib/deep/er/a.out': 'written\n',
    'lib/deep/a.dump': 'dumped\n',
  });
  const { text } = await user.get(`/${full_path}/commit/${sha}`);
  for (const path of ['lib/made/client.ts', 'lib/a.out', 'lib/deep/a.dump'])
    assert.match(cardIn(text, path), /Collapsed/, path);
  for (const path of ['made/client.ts', 'lib/deep/er/a.out'])
    assert.ok(cardIn(text, path).includes('written'), path);
});

test('folders whose .gitattributes were not read for one diff are read for the next', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const files: Record<string, string> = {};
  for (let at = 10; at < 61; at += 1) {
    files[`f${at}/.gitattributes`] = '*.out linguist-generated\n';
    files[`f${at}/a.out`] = 'made\n';
  }
  const path = `/${full_path}/commit/${await seedCommit(gantry, id, files)}`;
  assert.match(cardIn((await user.get(path)).text, 'f10/a.out'), /Collapsed/);
  assert.match(cardIn((await user.get(path)).text, 'f60/a.out'), /Collapsed/);
});

test('shows a renamed file alone as renamed', async () => {
  const { path } = await newChange();
  const card = cardIn((await user.get(path)).text, 'lib/new.txt');
  assert.match(card, /old\.txt &rarr; lib\/new\.txt/);
  const alone = await follow(card, /href="([^"]+)" data-inline>Whole file/);
  assert.match(cardIn(alone, 'lib/new.txt'), /old\.txt &rarr; lib\/new\.txt/);
  assert.equal(alone.split('<section class="card diff-file"').length, 2);
  assert.ok(alone.includes('All files') && !alone.includes('file-tree'));
});

test('shows both sides beside each other, once by the address, always by the button', async () => {
  const { path, compare } = await newChange();
  const { visitor } = await seedVisitor(gantry);
  const isSplit = async (address: string): Promise<boolean> => {
    const { status, text } = await visitor.get(address);
    assert.equal(status, 200);
    return cardIn(text, 'src/long.txt').includes('<table class="diff split-diff">');
  };
  assert.equal(await isSplit(path), false);
  assert.equal(await isSplit(`${path}?view=split`), true);
  assert.equal(await isSplit(path), false);
  const return_to = `${path}?view=unified#changes`;
  assert.equal(
    (await visitor.post('/-/preferences', { view: 'split', return_to })).location,
    `${path}#changes`,
  );
  assert.equal(await isSplit(path), true);
  assert.equal(await isSplit(compare), true);
  assert.match(
    (await visitor.get(compare)).text,
    /<button name="view" value="unified" aria-pressed="false">/,
  );
  assert.equal(await isSplit(`${compare}?view=unified`), false);
  assert.equal(await isSplit(path), true);
});

test('hides changes of white space once by the address, always by the button', async () => {
  const { second, commit } = await newProject();
  const { visitor } = await seedVisitor(gantry);
  const shows = async (query: string): Promise<boolean> =>
    (await visitor.get(`${commit}/${second}${query}`)).text.includes('<mark> </mark>');
  assert.deepEqual([await shows(''), await shows('?w=1'), await shows('')], [true, false, true]);
  await visitor.post('/-/preferences', { w: '1', return_to: `${commit}/${second}` });
  assert.deepEqual([await shows('?w=0'), await shows('')], [true, false]);
  assert.match((await visitor.get(`${commit}/${second}`)).text, /<button name="w" value="0">Show whitespace/);
});

test('names the branches and tags that contain it', async () => {
  const { id, first, commit } = await newProject();
  await gantry.api(`POST /projects/${id}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
  assert.ok((await user.get(`${commit}/${first}`)).text.includes('data-later='));
  const { text } = await user.get(`${commit}/${first}?refs=1`);
  assert.match(text, /<p id="refs">[^]*tree\/main"[^]*tree\/v1"/);
});

test('answers a diff and a patch that git could apply', async () => {
  const { first, second, commit } = await newProject();
  const diff = await user.get(`${commit}/${second}.diff`);
  assert.match(diff.text, /^diff --git a\/a b\/a\n/);
  assert.equal(diff.headers.get('content-type'), 'text/plain; charset=utf-8');
  const patch = (await user.get(`${commit}/${second}.patch`)).text;
  assert.ok(
    patch.startsWith(`From ${second} Mon Sep 17 00:00:00 2001\nFrom: Ada Lovelace <ada@example.com>\n`),
    patch,
  );
  assert.ok(patch.includes('Subject: [PATCH] Change <it>\n\nThe reason & more.\n---\n\ndiff --git'), patch);
  assert.equal((await user.get(`${commit}/${first}.diff`)).status, 200);
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, commit, second } = await newProject('private');
  for (const end of ['', '.diff', '.patch']) {
    const missing = await user.get(`/no-such/project/commit/${second}${end}`);
    const hidden = await user.get(`${commit}/${second}${end}`);
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
    assert.match(
      (await openVisitor(gantry).get(`${commit}/${second}${end}`)).location ?? '',
      /^\/users\/sign_in/,
    );
  }
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${commit}/${second}`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.commit}/${open.second}?refs=1`)).status, 200);
});

test('an unknown commit is missing', async () => {
  const { commit } = await newProject();
  for (const bad of ['0'.repeat(40), 'nope', '-x', 'main..x', `${'0'.repeat(40)}.patch`])
    assert.equal((await user.get(`${commit}/${bad}`)).status, 404, bad);
});

test('shows the comments on the commit, and takes another one', async () => {
  const { id, second, commit, full_path } = await newProject();
  const member = await seedVisitor(gantry, { project: id, access_level: 20 });
  const api = `/projects/${id}/repository/commits/${second}/comments`;
  await gantry.api(`POST ${api}`, { json: { note: 'On a **line**', path: 'a', line: 2, line_type: 'new' } });
  await member.visitor.get(`${commit}/${second}`);
  const { status, location } = await member.visitor.post(`${commit}/${second}/comments`, {
    note: 'Why\r\n`<that>`?',
  });
  assert.equal(status, 303);
  const [, noteId] = new RegExp(`^${commit}/${second}#note_(\\d+)$`).exec(location ?? '') ?? [];
  const { text } = await user.get(`${commit}/${second}`);
  assert.match(
    text,
    /&lt;[^\n]*three[^\n]*\n<\/td><\/tr><tr class="thread">[^]*?On a <strong>line<\/strong>/,
  );
  assert.ok(text.includes(`id="note_${noteId}"`) && text.includes('<code>&lt;that&gt;</code>?'));
  const { body } = await gantry.api(`GET ${api}`);
  assert.deepEqual(
    body.map(({ note }: { note: string }) => note),
    ['On a **line**', 'Why\n`<that>`?'],
  );
  const activity = await user.get(`/${full_path}/-/activity`);
  assert.ok(activity.text.includes(`href="/${full_path}/-/commit/${second}#note_${noteId}"`));
  const blank = await member.visitor.post(`${commit}/${second}/comments`, { note: ' ' });
  assert.deepEqual([blank.status, /aria-invalid="true"/.test(blank.text)], [422, true]);
  assert.match(blank.text, new RegExp(`action="/${full_path}/-/star">`));
  assert.doesNotMatch(
    blank.text,
    /name="return_to" value="[^"]*\/comments/,
    'the path of a sent form shows no page',
  );
  assert.equal(
    (await member.visitor.post(`${commit}/${'0'.repeat(40)}/comments`, { note: 'x' })).status,
    404,
  );
  const anonymous = openVisitor(gantry);
  assert.ok(!(await anonymous.get(`${commit}/${second}`)).text.includes('Add a comment'));
  assert.match(
    (await anonymous.post(`${commit}/${second}/comments`, { note: 'x' })).location ?? '',
    /sign_in/,
  );
});

/** Reads the form for a comment on a line, by the link of its number. */
const formAt = async (visitor: Visitor, path: string, file: string, line: string) => {
  const card = cardIn((await visitor.get(path)).text, file);
  const link = new RegExp(`href="([^"]*comment=diff-[\\da-f]+_${line})"`).exec(card)?.[1] ?? '';
  assert.notEqual(link, '', `${line} in ${card}`);
  const { pathname, search } = new URL(link.replaceAll('&amp;', '&'), `http://host${path}`);
  const { text } = await visitor.get(pathname + search);
  const form = /<section class="card comment-form" id="new_comment"[^]*?<\/section>/.exec(text)?.[0] ?? '';
  const action = /action="([^"]+)"/.exec(form)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return { action, fields: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])) };
};

test('comments on lines, which are shown below them, also side by side', async () => {
  const { id, second, commit } = await newProject();
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 20 });
  const path = `${commit}/${second}`;
  for (const [line, note] of [
    ['new_2', 'on the added line'],
    ['old_2', 'on the removed line'],
    ['new_1', 'on an unchanged line'],
  ] as const) {
    const { action, fields } = await formAt(visitor, path, 'a', line);
    const { status, location } = await visitor.post(action, { ...fields, note });
    assert.equal(status, 303);
    assert.match(location ?? '', new RegExp(`^${path}#note_\\d+$`));
  }
  const { body } = await gantry.api(`GET /projects/${id}/repository/commits/${second}/comments`);
  assert.deepEqual(
    body.map((one: { path: string; line: number; line_type: string }) => [one.path, one.line, one.line_type]),
    [
      ['a', 2, 'new'],
      ['a', 2, 'old'],
      ['a', 1, 'new'],
    ],
  );
  for (const query of ['?view=split', '?view=unified']) {
    const { text } = await visitor.get(path + query);
    const card = cardIn(text, 'a');
    assert.match(card, /three[^\n]*\n<\/td><\/tr><tr class="thread">[^]*on the added line/);
    assert.ok(card.includes('on the removed line') && card.includes('on an unchanged line'));
    const below = text.slice(text.indexOf('id="comments"'));
    assert.ok(!below.includes('on the added line'), 'each is shown once');
  }
  const { action, fields } = await formAt(visitor, path, 'a', 'new_2');
  const blank = await visitor.post(action, { ...fields, note: ' ' });
  assert.equal(blank.status, 422);
  assert.match(cardIn(blank.text, 'a'), /id="new_comment"[^]*aria-invalid="true"/);
  // Links of lines lead to the page of the commit, also from the answer to a form.
  assert.match(blank.text, new RegExp(`href="${path}\\?comment=diff-[\\da-f]+_new_1"`));
  const anonymous = (await openVisitor(gantry).get(path)).text;
  assert.ok(anonymous.includes('on the added line') && !anonymous.includes('comment=diff'));
});

test('a comment stays with the file that the page shows alone, and leads to the list where it has no line', async () => {
  const { path, id } = await newChange();
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 20 });
  const alone = `${path}?file=lib%2Fnew.txt&old_path=old.txt`;
  const { action, fields } = await formAt(visitor, alone, 'lib/new.txt', 'new_5');
  const { location } = await visitor.post(action, { ...fields, note: 'on the new file' });
  assert.match(location ?? '', /\?file=lib%2Fnew\.txt&old_path=old\.txt#note_\d+$/);
  assert.match(
    cardIn((await visitor.get((location ?? '').split('#')[0] ?? '')).text, 'lib/new.txt'),
    /on the new file/,
  );
  // Another file is shown alone: the comment is in the list, with its place.
  const other = (await visitor.get(`${path}?file=a.txt`)).text;
  assert.match(other, /id="comments"[^]*lib\/new\.txt · line 5<\/p>[^]*on the new file/);
});

test('comments on a late line of a large file, which is shown alone', async () => {
  const { id, commit } = await newProject();
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 20 });
  const large = Array.from({ length: 30_000 }, (_line, at) => `line ${at}\n`).join('');
  const sha = await seedCommit(gantry, id, { large });
  const place = { path: 'large', line: 29_000, line_type: 'new' };
  await visitor.get(`${commit}/${sha}`);
  const fields = { path: 'large', old_path: 'large', line: 'new_29000', note: 'far below' };
  const { location } = await visitor.post(`${commit}/${sha}/comments?file=large`, fields);
  const { body } = await gantry.api(`GET /projects/${id}/repository/commits/${sha}/comments`);
  assert.deepEqual(
    body.map(({ path, line, line_type }: typeof place) => ({ path, line, line_type })),
    [place],
  );
  const { text } = await visitor.get((location ?? '').split('#')[0] ?? '');
  assert.match(cardIn(text, 'large'), /far below/);
});

test('a comment on a folded file, which was opened in place, leads to that file alone', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  await seedCommit(gantry, id, {
    'old.lock': 'same\nlines\nof\ntext\n',
    '.gitattributes': '*.lock linguist-generated\n',
  });
  const moved = { 'old.lock': null, 'new.lock': 'same\nlines\nof\ntext\nmore\n', 'a.txt': 'a\n' };
  const path = `/${full_path}/commit/${await seedCommit(gantry, id, moved)}`;
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 20 });
  assert.match(cardIn((await visitor.get(path)).text, 'new.lock'), /Collapsed/);
  // The script fills in the form of the page, whose action names no file.
  const send = async (fields: Record<string, string>) =>
    (await visitor.post(`${path}/comments?view=split`, { note: 'on the lock', ...fields })).location ?? '';
  const location = await send({ path: 'new.lock', old_path: 'old.lock', line: 'new_5' });
  assert.match(location, /\?view=split&file=new\.lock&old_path=old\.lock#note_\d+$/);
  assert.match(cardIn((await visitor.get(location.split('#')[0] ?? '')).text, 'new.lock'), /on the lock/);
  assert.match(
    await send({ path: 'a.txt', old_path: 'a.txt', line: 'new_1' }),
    new RegExp(`^${path}\\?view=split#note_\\d+$`),
  );
});

test('reads the lines of a file once for all discussions, also where it shows none of their lines', () => {
  let reads = 0;
  const file = {
    old_path: 'a',
    new_path: 'a',
    get diff() {
      reads += 1;
      return '@@ -1 +1 @@\n-one\n+two\n';
    },
  } as FileDiff;
  const on = (line: number): ShownDiscussion => ({
    id: `d${line}`,
    place: { path: 'a', line, line_type: 'new' },
    comments: [],
  });
  const { byFile, rest } = placeComments([on(7), on(8), on(1)], [file]);
  assert.deepEqual(
    [rest.map(({ id }) => id), [...(byFile.get(file)?.keys() ?? [])]],
    [['d7', 'd8'], ['new_1']],
  );
  assert.equal(reads, 1);
});

test('replies to comments', async () => {
  const { id, second, commit } = await newProject();
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 20 });
  const path = `${commit}/${second}`;
  await visitor.get(path);
  await visitor.post(`${path}/comments`, { note: 'first' });
  const { text } = await visitor.get(path);
  const discussion_id = /name="discussion_id" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const { location } = await visitor.post(`${path}/comments`, { note: 'second', discussion_id });
  const { body } = await gantry.api(`GET /projects/${id}/repository/commits/${second}/discussions`);
  assert.deepEqual(
    body.map(({ notes }: { notes: { body: string }[] }) => notes.map((one) => one.body)),
    [['first', 'second']],
  );
  const note = /#(note_\d+)$/.exec(location ?? '')?.[1] ?? '';
  assert.match((await visitor.get(path)).text, new RegExp(`<ul class="replies"><li id="${note}">[^]*second`));
  const blank = await visitor.post(`${path}/comments`, { note: ' ', discussion_id });
  const form = (shown: string): string =>
    shown.slice(shown.lastIndexOf('<form', shown.indexOf('id="commit_comment"')));
  assert.equal(blank.status, 422);
  assert.match(form(blank.text), new RegExp(`^<form[^]*?name="discussion_id" value="${discussion_id}"`));
  const away = { note: ' ', path: 'a', old_path: 'a', line: 'new_900' };
  const line = await visitor.post(`${path}/comments`, away);
  assert.equal(line.status, 422);
  assert.match(form(line.text), /name="path" value="a"[^]*name="line" value="new_900"[^]*on line 900 of a/);
  const unknown = await visitor.post(`${path}/comments`, { note: 'x', discussion_id: 'none' });
  assert.equal(unknown.status, 404);
});

test('authors edit and delete their comments, nobody else but maintainers', async () => {
  const { id, second, commit, full_path } = await newProject();
  const member = await seedVisitor(gantry, { project: id, access_level: 30 });
  const other = await seedVisitor(gantry, { project: id, access_level: 30 });
  const maintainer = await seedVisitor(gantry, { project: id, access_level: 40 });
  const path = `${commit}/${second}`;
  await member.visitor.get(path);
  const { location } = await member.visitor.post(`${path}/comments`, { note: 'before' });
  const note = /#note_(\d+)$/.exec(location ?? '')?.[1] ?? '';
  const own = `${path}/notes/${note}`;
  const edit = (await member.visitor.get(`${own}/edit`)).text;
  assert.ok((await member.visitor.get(path)).text.includes(`data-edit="note_${note}"`));
  assert.ok(!(await other.visitor.get(path)).text.includes('data-edit='));
  const base = /name="base" value="([^"]+)"/.exec(edit)?.[1] ?? '';
  await other.visitor.get(path);
  assert.equal((await other.visitor.get(`${own}/edit`)).status, 403);
  assert.equal((await other.visitor.post(own, { body: 'x', base })).status, 403);
  assert.equal((await other.visitor.post(`${own}/delete`)).status, 403);
  for (const time of ['first', 'second']) {
    const saved = await member.visitor.post(own, { body: 'after', base });
    assert.equal(saved.location, `${path}#note_${note}`, time);
  }
  assert.match((await user.get(path)).text, /<p dir="auto">after<\/p>/);
  const stale = await member.visitor.post(own, { body: 'late', base });
  assert.ok(stale.status >= 400 && stale.text.includes('Saved meanwhile') && stale.text.includes('late'));
  assert.equal((await member.visitor.post(own, { body: ' ' })).status, 422);
  for (const [form, field] of Object.entries({ [own]: 'body', [`${path}/comments`]: 'note' })) {
    const { status, text } = await member.visitor.post(form, { [field]: 'kept\0' });
    assert.deepEqual([status, /kept<\/textarea>/.test(text)], [422, true], form);
  }
  const elsewhere = `/${full_path}/commit/${(await newProject()).first}/notes/${note}`;
  assert.equal((await member.visitor.post(elsewhere, { body: 'x' })).status, 404);
  await maintainer.visitor.get(path);
  assert.equal((await maintainer.visitor.post(`${own}/delete`)).location, path);
  assert.ok(!(await user.get(path)).text.includes('after'));
  assert.equal((await member.visitor.post(own, { body: 'x' })).status, 404);
});

test('names the merge requests that have the commit, to those who may see them', async () => {
  const { id, full_path, first } = await newProject();
  const sha = await seedCommit(gantry, id, { more: 'm' }, { branch: 'topic', from: 'main' });
  const { iid } = await openRequest(gantry, { id }, 'topic', { title: 'Add <more>' });
  await settle(gantry);
  const { text } = await user.get(`/${full_path}/commit/${sha}`);
  assert.ok(text.includes(`href="/${full_path}/merge_requests/${iid}">!${iid} Add &lt;more&gt;</a>`), text);
  assert.ok(!(await user.get(`/${full_path}/commit/${first}`)).text.includes('<dt>Merge requests</dt>'));
  await gantry.api(`PUT /projects/${id}`, { json: { merge_requests_access_level: 'private' } });
  assert.ok(!(await user.get(`/${full_path}/commit/${sha}`)).text.includes(`!${iid}`));
});

test('reverts, cherry-picks and tags the commit, for those who may push', async () => {
  const { id, first, second, commit, full_path } = await newProject();
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 40 });
  const page = `${commit}/${second}`;
  const { text } = await visitor.get(page);
  assert.ok(text.includes(`href="/${full_path}/-/tags/new?ref=${second}"`), 'a link to the new tag');
  assert.match(
    (await visitor.get(`/${full_path}/-/tags/new?ref=${second}`)).text,
    new RegExp(`value="${second}"`),
  );
  const reverted = await visitor.post(`${page}/revert`, { branch: 'main', request: '1' });
  assert.match(reverted.location ?? '', new RegExp(`/merge_requests/new\\?.+=revert-${second.slice(0, 8)}`));
  await gantry.api(`POST /projects/${id}/repository/branches`, { json: { branch: 'old', ref: first } });
  const picked = await visitor.post(`${page}/cherry_pick`, { branch: 'old' });
  assert.equal(picked.location, page);
  const file = await gantry.api(`GET /projects/${id}/repository/files/new.txt?ref=old`);
  assert.equal(file.status, 200);
  const again = await visitor.post(`${page}/cherry_pick`, { branch: 'old' });
  assert.deepEqual([again.status, /role="alert">[^<]*may already have been/.test(again.text)], [422, true]);
  assert.equal((await visitor.post(`${page}/revert`, { branch: ' ' })).status, 422);
  const shown = (await user.get(page)).text;
  assert.ok(!shown.includes('Cherry-pick') && !shown.includes('New tag'));
  for (const verb of ['revert', 'cherry_pick'])
    assert.equal((await user.post(`${page}/${verb}`, { branch: 'old' })).status, 403, verb);
});
