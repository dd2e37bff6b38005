/** Tests the files and lines of the Changes tab. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';
import { seedMember, unique } from '../../../../../../test/support/seed.ts';
import { storageUnavailable } from '../../../../../platform/git/failure.ts';
import type { Repository, RepositoryLocation } from '../../../../../platform/git/repository.ts';
import { maxSvgBytes } from '../../../../../platform/http/svg.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;
let path: string;

const numbered = (count: number, word = 'line'): string =>
  Array.from({ length: count }, (_line, at) => `${word} ${at + 1}\n`).join('');

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await seedCommit(gantry, project.id, {
    'src/long.txt': numbered(40),
    'src/spaces.ts': 'const a = 1;\n',
    'src/gone.ts': 'gone\n',
  });
  const files = {
    'src/long.txt': numbered(40).replace('line 20\n', 'line twenty\n'),
    'src/spaces.ts': 'const  a = 1;\n',
    'src/gone.ts': null,
    'src/<new>.ts': 'const greeting = "<b>";\n',
    'package-lock.json': '{}\n',
    'zeros.bin': '\0\0\0',
  };
  await seedBranch(gantry, project, 'topic', { files });
  const { iid } = await openRequest(gantry, project, 'topic');
  path = `/${project.full_path}/merge_requests/${iid}/diffs`;
});
after(async () => await gantry.close());

const read = async (query = ''): Promise<string> => {
  const { status, text } = await developer.visitor.get(`${path}${query}`);
  assert.equal(status, 200);
  return text;
};

/** The card of a file. */
const cardIn = (text: string, file: string): string =>
  text
    .split(/<section class="card diff-file"|<template/)
    .find((card) => card.startsWith(` id="diff-`) && card.includes(`data-path="${file}"`)) ?? '';

test('shows the tree of files and a card for each, with highlighted lines and escaped names', async () => {
  const text = await read();
  const tree = /<nav class="card file-tree"[^]*?<\/nav>/.exec(text)?.[0] ?? '';
  for (const name of ['src', 'long.txt', '&lt;new&gt;.ts', 'package-lock.json']) {
    assert.ok(tree.includes(`<span class="name">${name}</span>`), name);
  }
  assert.ok(tree.includes('aria-label="1 added">+1</span>'));
  const long = cardIn(text, 'src/long.txt');
  assert.match(long, /aria-label="removed">&minus;<\/td><td>line <mark>/);
  assert.match(long, /aria-label="Comment on line 20, added">20<\/a>/);
  const fresh = cardIn(text, 'src/&lt;new&gt;.ts');
  assert.ok(fresh.includes('<span class="hljs-keyword">const</span>'), fresh);
  assert.ok(fresh.includes('&quot;&lt;b&gt;&quot;') && fresh.includes('<span class="badge">added</span>'));
  assert.ok(cardIn(text, 'src/gone.ts').includes('<span class="badge">deleted</span>'));
});

test('says why a file is not shown, and shows it alone', async () => {
  const text = await read();
  const generated = cardIn(text, 'package-lock.json');
  assert.ok(generated.includes('Collapsed: the file is generated.'), generated);
  assert.ok(generated.includes('diffs?file=package-lock.json#diff-'));
  const alone = await read('?file=package-lock.json');
  assert.ok(
    cardIn(alone, 'package-lock.json').includes('aria-label="added">+') &&
      cardIn(alone, 'src/long.txt') === '',
  );
  assert.match(cardIn(text, 'zeros.bin'), /Binary, 3 bytes <a href="[^"]*\/raw\/[^"]*\/zeros\.bin">After</);
  assert.ok((await read('?file=no-such-file')).includes('All files'));
});

test('links each file to the ones before and after it, and folds folders of the tree', async () => {
  const text = await read();
  const names = [...text.matchAll(/<section class="card diff-file" id="([^"]+)"/g)].map(([, id]) => id);
  const cards = text.split('<section class="card diff-file"').slice(1);
  assert.ok(names.length > 2);
  for (const [at, card] of cards.entries()) {
    const next = /href="#([^"]+)" aria-label="Next file: /.exec(card)?.[1];
    const previous = /href="#([^"]+)" aria-label="Previous file: /.exec(card)?.[1];
    assert.deepEqual([previous, next], [names[at - 1], names[at + 1]]);
  }
  assert.match(await read('?file=package-lock.json'), /\?file=[^"]*#[^"]*" aria-label="Next file: /);
  assert.match(text, /<details open data-folder="src\/"><summary class="folder">/);
});

test('folds files as .gitattributes of the shown version says', async () => {
  await seedBranch(gantry, project, 'attributes', {
    files: { '.gitattributes': 'gen/* gitlab-generated\n', 'gen/a.ts': 'let one;\n', 'b.ts': 'let two;\n' },
  });
  const { iid } = await openRequest(gantry, project, 'attributes');
  const address = `/${project.full_path}/merge_requests/${iid}/diffs`;
  const { text } = await developer.visitor.get(address);
  assert.match(cardIn(text, 'gen/a.ts'), /Collapsed: the file is generated/);
  assert.match(cardIn(text, 'b.ts'), /two/);
  await settle(gantry);
  await seedBranch(gantry, project, 'attributes', { from: 'attributes', files: { '.gitattributes': null } });
  await settle(gantry);
  assert.doesNotMatch(cardIn((await developer.visitor.get(address)).text, 'gen/a.ts'), /Collapsed/);
});

test('shows both files side by side', async () => {
  const text = await read('?view=split');
  const long = cardIn(text, 'src/long.txt');
  assert.ok(long.includes('<table class="diff split-diff">'), long);
  assert.match(
    long,
    /<td class="del">line <mark>20<\/mark>\n<\/td><td class="n">[^]*<td class="add">line <mark>/,
  );
  assert.match(text, /href="[^"]+\?view=split&amp;file=/, 'links to the same diff keep the view');
});

test('buttons store the view and hidden white space; an address shows them once', async () => {
  const { visitor } = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  const show = async (query: string) => {
    const { text } = await visitor.get(`${path}${query}`);
    return [text.includes('split-diff'), cardIn(text, 'src/spaces.ts') === ''];
  };
  assert.deepEqual(await show(''), [false, false]);
  assert.deepEqual(await show('?view=split&w=1'), [true, true]);
  assert.deepEqual(await show(''), [false, false]);
  await visitor.get(`${path}?view=split`);
  const choose = async (form: Record<string, string>, query = ''): Promise<void> => {
    const { status, location } = await visitor.post('/-/preferences', {
      ...form,
      return_to: `${path}?view=unified&page=1${query}`,
    });
    assert.equal(status, 303);
    assert.equal(location, `${path}?${form['view'] === undefined ? 'view=unified&' : ''}page=1`);
  };
  await choose({ view: 'split' });
  await choose({ w: '1' }, '&w=0');
  assert.deepEqual(await show(''), [true, true]);
  const { text } = await visitor.get(path);
  assert.match(text, /<button name="view" value="split" aria-pressed="true">Split/);
  assert.match(text, /<button name="w" value="0">Show whitespace/);
  assert.deepEqual(await show('?view=unified&w=0'), [false, false]);
  assert.deepEqual(await show(''), [true, true]);
});

test('hides changes of white space', async () => {
  assert.ok(cardIn(await read(), 'src/spaces.ts') !== '');
  const text = await read('?w=1');
  assert.equal(cardIn(text, 'src/spaces.ts'), '');
  assert.ok(cardIn(text, 'src/long.txt') !== '' && text.includes('Show whitespace'));
});

test('shows the whole file around its changes', async () => {
  const link = /href="([^"]+)" data-inline>Whole file<span class="visually-hidden"> src\/long.txt/.exec(
    await read(),
  )?.[1];
  assert.equal(link?.split('#')[0], `${path}?file=src%2Flong.txt&amp;whole=1`);
  const text = await read('?file=src/long.txt&whole=1');
  assert.ok(
    text.includes('line 1\n') && text.includes('line 40\n') && text.includes('line <mark>twenty</mark>'),
  );
  // Lines outside of the diff take no comments.
  assert.ok(!text.includes('Comment on line 1,') && text.includes('Comment on line 19,'));
});

test('loads the files of a large change in parts', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 3 }, (_file, at) => [`many/${at}.txt`, numbered(800, `file ${at} line`)]),
  );
  await seedBranch(gantry, project, 'many', { files: { ...many, 'many/large.txt': numbered(1_600) } });
  const { iid } = await openRequest(gantry, project, 'many');
  const open = `/${project.full_path}/merge_requests/${iid}/diffs`;
  const first = (await developer.visitor.get(open)).text;
  assert.ok(first.includes('file 0 line 800') && !first.includes('file 2 line 1\n'));
  assert.ok(first.includes(`data-more="${open}?page=2"`) && first.includes('Part 1 of'));
  assert.match(first, new RegExp(`href="${open}\\?page=\\d#diff-[\\da-f]+" title="many/2.txt"`));
  const last = (await developer.visitor.get(`${open}?page=99`)).text;
  assert.ok(last.includes('Collapsed: the file has many changed lines.') && !last.includes('data-more'));
});

test('sends a long diff while it is rendered, and a short one as a whole', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  await seedBranch(gantry, own, 'long', {
    files: { 'a.txt': numbered(700, 'x'.repeat(100)), 'b.txt': numbered(700, 'y').slice(0, 200) },
  });
  const { iid } = await openRequest(gantry, own, 'long');
  const long = await developer.visitor.get(`/${own.full_path}/merge_requests/${iid}/diffs`);
  assert.equal(long.headers.get('transfer-encoding'), 'chunked');
  assert.equal(long.headers.get('content-length'), null);
  assert.ok(cardIn(long.text, 'a.txt').includes('x 700'));
  assert.ok(cardIn(long.text, 'b.txt').includes('y 20'));
  assert.match(long.text, /id="comment_template"[\s\S]+<\/main>[\s\S]+<\/html>\s*$/);
  const short = await developer.visitor.get(path);
  assert.equal(short.headers.get('transfer-encoding'), null);
});

test('compares versions, without what a rebase brought along', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  await seedCommit(gantry, own.id, { 'of_main.txt': '1\n', 'topic.txt': numbered(20) });
  await seedBranch(gantry, own, 'topic', {
    files: { 'topic.txt': numbered(20).replace('line 2\n', 'first\n') },
  });
  const { iid } = await openRequest(gantry, own, 'topic');
  const open = `/${own.full_path}/merge_requests/${iid}/diffs`;
  await seedCommit(gantry, own.id, { 'of_main.txt': '2\n' });
  await gantry.api(`PUT /projects/${own.id}/merge_requests/${iid}/rebase`);
  await settle(gantry);
  await seedCommit(
    gantry,
    own.id,
    { 'topic.txt': numbered(20).replace('line 2\n', 'first\n').replace('line 19\n', 'second\n') },
    { branch: 'topic' },
  );
  await settle(gantry);
  const { body: versions } = await gantry.api(`GET /projects/${own.id}/merge_requests/${iid}/versions`);
  const oldest = versions.at(-1);
  const since = (await developer.visitor.get(`${open}?start_sha=${oldest.head_commit_sha}`)).text;
  const card = cardIn(since, 'topic.txt');
  assert.ok(card.includes('<mark>second</mark>') || card.includes('second'), card);
  assert.ok(!card.includes('first\n') && cardIn(since, 'of_main.txt') === '', card);
  const before = (await developer.visitor.get(`${open}?diff_id=${oldest.id}`)).text;
  assert.ok(before.includes('first') && !before.includes('second'));
  assert.ok(before.includes('Version 1 '));
  assert.equal((await developer.visitor.get(`${open}?diff_id=999999`)).status, 404);
  assert.equal((await developer.visitor.get(`${open}?start_sha=${'0'.repeat(40)}`)).status, 404);
});

test('says where a rebase conflicts with the version it is compared with', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  await seedCommit(gantry, own.id, { 'topic.txt': numbered(5), 'of_main.txt': '1\n' });
  const changed = (word: string): string => numbered(5).replace('line 2\n', `${word}\n`);
  await seedBranch(gantry, own, 'topic', { files: { 'topic.txt': changed('mine') } });
  const { iid, sha } = await openRequest(gantry, own, 'topic');
  await seedCommit(gantry, own.id, { 'topic.txt': changed('theirs'), 'of_main.txt': '2\n' });
  const rebased = await gantry.api(`POST /projects/${own.id}/repository/commits`, {
    json: {
      branch: 'topic',
      start_branch: 'main',
      force: true,
      commit_message: 'Rebased by hand',
      actions: [{ action: 'update', file_path: 'topic.txt', content: changed('both') }],
    },
  });
  assert.equal(rebased.status, 201, rebased.text);
  await settle(gantry);
  const open = `/${own.full_path}/merge_requests/${iid}/diffs`;
  const { status, text } = await developer.visitor.get(`${open}?start_sha=${sha}`);
  assert.equal(status, 200);
  assert.match(text, /rebased in between, with conflicts/);
  const card = cardIn(text, 'topic.txt');
  assert.ok(card.includes('mine') && card.includes('both') && !card.includes('&lt;&lt;&lt;&lt;'), card);
  assert.notEqual(cardIn(text, 'of_main.txt'), '', 'what the target branch changed is shown, too');
  assert.doesNotMatch((await developer.visitor.get(open)).text, /rebased in between/);
});

test('shows images before and after the change', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const picture = (name: string): string => `GIF89a\0${name}`;
  await seedCommit(gantry, own.id, { 'kept.gif': picture('old'), 'gone.gif': picture('gone') });
  const files = { 'kept.gif': picture('new'), 'gone.gif': null, 'fresh.gif': picture('fresh') };
  await seedBranch(gantry, own, 'pictures', { files });
  const { iid } = await openRequest(gantry, own, 'pictures');
  const { text } = await developer.visitor.get(`/${own.full_path}/merge_requests/${iid}/diffs`);
  const pictures = (file: string): [alt: string, src: string][] =>
    [...cardIn(text, file).matchAll(/<img src="([^"]+)" alt="(Before|After)"/g)].map(
      ([, src = '', alt = '']) => [alt, src],
    );
  const [[before, old] = [], [after, fresh] = []] = pictures('kept.gif');
  assert.deepEqual([before, after], ['Before', 'After']);
  assert.ok((await developer.visitor.get(old ?? '')).text.endsWith('old'));
  assert.ok((await developer.visitor.get(fresh ?? '')).text.endsWith('new'));
  assert.deepEqual(
    pictures('gone.gif').map(([alt]) => alt),
    ['Before'],
  );
  assert.deepEqual(
    pictures('fresh.gif').map(([alt]) => alt),
    ['After'],
  );
});

test('shows SVG images before and after the change, next to their lines', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const drawing = (name: string): string =>
    `<svg xmlns="http://www.w3.org/2000/svg">\n<script>alert(1)</script>\n<title>${name}</title></svg>\n`;
  await seedCommit(gantry, own.id, { 'kept.svg': drawing('old'), 'words.svg': 'no drawing\n' });
  const files = { 'kept.svg': drawing('new'), 'fresh.svg': drawing('fresh'), 'words.svg': 'still none\n' };
  await seedBranch(gantry, own, 'drawings', { files });
  const { iid } = await openRequest(gantry, own, 'drawings');
  const { text } = await developer.visitor.get(`/${own.full_path}/merge_requests/${iid}/diffs`);
  const pictures = (file: string): string[][] =>
    [...cardIn(text, file).matchAll(/<img src="([^"]+)" alt="(Before|After)"/g)].map(
      ([, src = '', alt = '']) => [alt, src],
    );
  const [[before, old] = [], [after, fresh] = []] = pictures('kept.svg');
  assert.deepEqual([before, after], ['Before', 'After']);
  assert.match(cardIn(text, 'kept.svg'), /&lt;title&gt;|title/);
  assert.ok(!text.includes('<script>alert(1)'), 'the drawing is not part of the page');
  for (const [address, name] of [
    [old, 'old'],
    [fresh, 'new'],
  ] as const) {
    const image = await developer.visitor.get(address ?? '');
    assert.ok(image.text.includes(`<title>${name}</title>`));
    assert.equal(image.headers.get('content-type'), 'image/svg+xml');
    assert.match(image.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
  }
  assert.deepEqual(
    pictures('fresh.svg').map(([alt]) => alt),
    ['After'],
  );
  assert.deepEqual(pictures('words.svg'), [], 'a text of that name is no image');
  const commit = await developer.visitor.get(`/${own.full_path}/compare/main...drawings`);
  assert.match(cardIn(commit.text, 'kept.svg'), /<img [^>]*alt="Before"/);
});

test('a file offers its path, and its editor to those who may push to the branch', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const pusher = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  await seedCommit(gantry, own.id, { 'gone.txt': 'x\n' });
  await seedBranch(gantry, own, 'edit/me', {
    files: { 'a b.txt': 'x\n', 'gone.txt': null, 'p.gif': 'GIF89a\0' },
  });
  const { iid } = await openRequest(gantry, own, 'edit/me');
  await settle(gantry);
  const at = `/${own.full_path}/merge_requests/${iid}/diffs`;
  const { text } = await pusher.visitor.get(at);
  assert.match(cardIn(text, 'a b.txt'), /data-copy="a b\.txt" hidden aria-label="Copy the path a b\.txt"/);
  const edit = /href="([^"]*\/edit\/edit\/me\/a%20b\.txt)"/.exec(cardIn(text, 'a b.txt'))?.[1] ?? '';
  assert.equal((await pusher.visitor.get(edit)).status, 200);
  for (const file of ['gone.txt', 'p.gif']) assert.doesNotMatch(cardIn(text, file), /\/edit\/edit\/me/);
  const others = await seedVisitor(gantry);
  assert.doesNotMatch((await others.visitor.get(at)).text, /\/edit\/edit\/me/);
  await gantry.api(`PUT /projects/${own.id}/merge_requests/${iid}`, { json: { state_event: 'close' } });
  assert.doesNotMatch((await pusher.visitor.get(at)).text, /\/edit\/edit\/me/);
});

test('anonymous visitors read, and find no forms', async () => {
  const { status, text } = await openVisitor(gantry).get(path);
  assert.equal(status, 200);
  assert.ok(text.includes('data-path="src/long.txt"'));
  assert.ok(!text.includes('Comment on') && !text.includes('Finish review') && !text.includes('Viewed'));
});

test('shows lines around a change in steps', async () => {
  const links = (text: string): string[] =>
    [
      ...cardIn(text, 'src/long.txt').matchAll(/class="expand step" href="([^"#]+)[^"]*" title="([^"]+)"/g),
    ].map(([, href = '', label = '']) => `${label} ${href.replaceAll('&amp;', '&').replace(`${path}?`, '')}`);
  assert.deepEqual(links(await read()), [
    'Lines 1 to 16 file=src%2Flong.txt&expand=1-16',
    'Lines 24 to 43 file=src%2Flong.txt&expand=24-43',
  ]);
  const text = await read('?file=src/long.txt&expand=1-5');
  assert.deepEqual(links(text), [
    'Lines 6 to 16 file=src%2Flong.txt&expand=1-16',
    'Lines 24 to 40 file=src%2Flong.txt&expand=1-5%2C24-40',
  ]);
  const card = cardIn(text, 'src/long.txt');
  assert.ok(card.includes('>line 5\n<') && !card.includes('>line 6\n<'));
  const whole = await read('?file=src/long.txt&expand=1-16,24-43');
  assert.deepEqual(links(whole), []);
  assert.ok(cardIn(whole, 'src/long.txt').includes('>line 40\n<'));
  assert.equal((await developer.visitor.get(`${path}?file=src/long.txt&expand=x`)).status, 200);
});

test('reads the SVG images of shown files only, at most four at the same time', async (t) => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><title>';
  const names = Array.from({ length: 9 }, (_, at) => [`${at}.svg`, `${drawing}${at}</title></svg>\n`]);
  const files = { ...Object.fromEntries(names), 'node_modules/far.svg': `${drawing}far</title></svg>\n` };
  await seedBranch(gantry, own, 'drawings', { files });
  const { iid } = await openRequest(gantry, own, 'drawings');
  const { git } = gantry.service.platform;
  const open = git.repository.bind(git);
  let [reads, running, most] = [0, 0, 0];
  t.mock.method(git, 'repository', (location: RepositoryLocation): Repository => {
    const repository = open(location);
    const read: Repository['read'] = async (name, parameters, ...rest) => {
      const isDrawing = name === 'blob.get' && (parameters as { max?: number }).max === maxSvgBytes;
      if (!isDrawing) return await repository.read(name, parameters, ...rest);
      reads += 1;
      running += 1;
      most = Math.max(most, running);
      try {
        return await repository.read(name, parameters, ...rest);
      } finally {
        running -= 1;
      }
    };
    return { ...repository, read };
  });
  for (const address of [`merge_requests/${iid}/diffs`, 'compare/main...drawings']) {
    [reads, most] = [0, 0];
    const { status, text } = await developer.visitor.get(`/${own.full_path}/${address}`);
    assert.equal(status, 200);
    assert.match(cardIn(text, '8.svg'), /<img [^>]*alt="After"/);
    assert.deepEqual([reads, most], [9, 4], address);
  }
});

test('shows the changes without their editor where the storage of the fork does not answer', async (t) => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const json = { path: unique('fork'), name: unique('Fork') };
  const { body: fork } = await gantry.api(`POST /projects/${own.id}/fork`, { json });
  await settle(gantry);
  await seedMember(gantry, { user: developer.id, project: fork.id, access_level: 30 });
  await seedBranch(gantry, fork, 'topic', { files: { 'a.txt': 'x\n' } });
  const { iid } = await openRequest(gantry, fork, 'topic', { target_project_id: own.id });
  await settle(gantry);
  const at = `/${own.full_path}/merge_requests/${iid}/diffs`;
  const editor = /href="[^"]*\/edit\/topic\/a\.txt"/;
  assert.match(cardIn((await developer.visitor.get(at)).text, 'a.txt'), editor);
  const { git } = gantry.service.platform;
  const open = git.repository.bind(git);
  t.mock.method(git, 'repository', (location: RepositoryLocation): Repository => {
    const ask = async () => await Promise.reject(storageUnavailable('it is down'));
    return location.id === fork.id ? { ...open(location), ask } : open(location);
  });
  const { status, text } = await developer.visitor.get(at);
  assert.deepEqual([status, cardIn(text, 'a.txt') !== ''], [200, true]);
  assert.doesNotMatch(text, editor);
});
