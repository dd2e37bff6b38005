/**
 * Known attacks in the texts of records, on the pages that show them, in a real browser that ignores the policy of the
 * pages: what is shown must be harmless by itself.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { type Coded, openRequest, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { xssVectors } from '../support/xss_vectors.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let project: Coded;
let login: string;
let base: string;
let iid: number;
let commit: string;

/** The start of every short text, which searches find. */
const word = 'attack';

/** Attacks for texts without markup: they leave an element, an attribute, a script, or a comment. */
const plain = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  '</title></textarea></script><img src=x onerror=alert(1)>',
  '" autofocus onfocus=alert(1) x="',
  "' onmouseover=alert(1) x='",
  '--><img src=x onerror=alert(1)>',
  '&lt;img src=x onerror=alert(1)&gt;',
  '${alert(1)}{{alert(1)}}<%= alert(1) %>',
  '<iframe srcdoc="<script>parent.document.xss=1</script>">',
  '<base href="https://evil.example/">',
  'javascript:alert(1)',
].map((attack) => `${word} ${attack}`);

/** Attacks that git allows in the name of a branch. */
const branches = [
  'x<script>alert(1)</script>',
  'x"><img/src=x/onerror=alert(1)>',
  "x'onmouseover=alert(1)",
  'x<svg/onload=alert(1)>',
];

/** Attacks in names of files and folders. */
const files = Object.fromEntries(
  [
    '"><img src=x onerror=alert(1)>.md',
    '<script>alert(1)</script>.js',
    "' onfocus=alert(1) autofocus x='.txt",
    '&lt;svg onload=alert(1)&gt;.txt',
  ].map((name) => [name, `${word}\n${plain.join('\n')}\n`]),
);

/** Comments with all attacks of the corpus, a few dozen each. */
const comments = (): string[] => {
  const size = 40;
  return Array.from({ length: Math.ceil(xssVectors.length / size) }, (_part, at) =>
    xssVectors
      .slice(at * size, (at + 1) * size)
      .join('\n\n')
      .replaceAll('\0', ''),
  );
};

const send = async (line: string, json: object) => {
  const { status, body, text } = await web.gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

const seedBoard = async (path: string): Promise<void> => {
  const titles = [...plain.keys()];
  const labels = [];
  for (const at of titles)
    labels.push(await send(`POST ${path}/labels`, { name: plain[at], color: '#336699' }));
  await send(`POST ${path}/milestones`, { title: plain[1], description: plain.join('\n\n') });
  const board = await send(`POST ${path}/boards`, { name: plain[1] });
  for (const { id } of labels.slice(0, 4))
    await send(`POST ${path}/boards/${board.id}/lists`, { label_id: id });
  for (const at of titles)
    await send(`POST ${path}/issues`, { title: plain[at], labels: plain[at % 4], milestone_id: 1 });
  base = `/${project.full_path}`;
};

const seedRequests = async (path: string): Promise<void> => {
  await seedCommit(web.gantry, project.id, { 'README.md': `# ${plain.join('\n\n')}\n`, 'a.js': 'one\n' });
  for (const [at, branch] of branches.entries()) {
    const message = `${plain[at]}\n\n${plain.join('\n')}`;
    const changed = { ...files, 'a.js': `one\n${plain.join('\n')}\n` };
    commit = await seedBranch(web.gantry, project, branch, { files: changed, message });
    const texts = at === branches.length - 1 ? comments() : plain;
    const attributes = { title: plain[at] ?? '', description: texts.join('\n\n') };
    ({ iid } = await openRequest(web.gantry, project, branch, attributes));
  }
  await settle(web.gantry);
  const one = `${path}/merge_requests/${iid}`;
  const { diff_refs } = (await web.gantry.api(`GET ${one}`)).body;
  const place = { position_type: 'text', ...diff_refs, new_path: 'a.js', old_path: 'a.js', new_line: 2 };
  for (const body of comments()) {
    await send(`POST ${one}/notes`, { body });
    await send(`POST ${one}/discussions`, { body, position: place });
  }
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser({ admin: true, name: plain[1] });
  project = await seedCoded(web.gantry, { visibility: 'private' });
  const path = `/projects/${project.id}`;
  await seedBoard(path);
  await seedRequests(path);
});
after(async () => {
  if (skip === false) await web.close();
});

/** Runs in the page. Returns the elements that could act and are not the page's own. */
const findActive = (): string[] => {
  type Found = { tagName: string; attributes: Iterable<{ name: string; value: string }>; outerHTML: string };
  const { document } = globalThis as unknown as {
    document: { querySelectorAll: (selector: string) => Iterable<Found> };
  };
  const foreign = /^(?:IFRAME|OBJECT|EMBED|BASE|APPLET|FRAME|STYLE|AUDIO|VIDEO|MATH)$/;
  return [...document.querySelectorAll('*')].flatMap(({ tagName, attributes, outerHTML }) => {
    const all = [...attributes];
    const isOwnScript = all.some(({ name, value }) => name === 'src' && value.startsWith('/-/assets/'));
    const acts = all.some(
      ({ name, value }) =>
        name.startsWith('on') ||
        ['style', 'srcdoc', 'srcset', 'is'].includes(name) ||
        (['href', 'src', 'action', 'formaction'].includes(name) &&
          /^\s*(?:javascript|data|vbscript):/i.test(value)),
    );
    const isForeign = foreign.test(tagName) || (tagName === 'SCRIPT' && !isOwnScript);
    return acts || isForeign ? [outerHTML.slice(0, 200)] : [];
  });
};

/** Runs in the page. Does with every element what a handler could wait for. */
const touchAll = (): void => {
  const page = globalThis as unknown as {
    document: {
      querySelectorAll: (selector: string) => Iterable<{ dispatchEvent: (event: object) => void }>;
    };
    Event: new (name: string, options: object) => object;
  };
  for (const element of page.document.querySelectorAll('main *'))
    for (const name of ['mouseover', 'pointerenter', 'focus', 'error', 'load'])
      element.dispatchEvent(new page.Event(name, { bubbles: false }));
};

type Watched = { dialogs: string[]; requests: Set<string> };

const watch = async (page: Page): Promise<Watched> => {
  const seen: Watched = { dialogs: [], requests: new Set() };
  page.on('dialog', (dialog) => {
    seen.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.route(/evil\.example/, async (route) => {
    seen.requests.add(route.request().url());
    await route.abort();
  });
  return seen;
};

const assertHarmless = async (page: Page, { dialogs, requests }: Watched, address: string): Promise<void> => {
  assert.deepEqual(await page.evaluate(findActive), [], address);
  await page.evaluate(touchAll);
  const mark = await page.evaluate(
    () => (globalThis as unknown as { document: { xss?: unknown } }).document.xss,
  );
  assert.deepEqual(
    { mark, dialogs, requests: [...requests] },
    { mark: undefined, dialogs: [], requests: [] },
    address,
  );
};

const visit = async (addresses: string[]): Promise<void> =>
  await web.withPage(
    async (page) => {
      const seen = await watch(page);
      await web.signIn(page, login);
      for (const address of addresses) {
        const answer = await page.goto(address);
        assert.equal(answer?.status(), 200, address);
        assert.ok((await page.content()).includes(word), `${address} shows the attacks`);
        await assertHarmless(page, seen, address);
      }
    },
    { bypassCSP: true },
  );

test('nothing runs on the pages of merge requests', { skip }, async () => {
  const one = `${base}/merge_requests/${iid}`;
  const tabs = ['', '/commits', '/diffs', '/versions', '/edit'].map((tab) => one + tab);
  await visit([`${base}/merge_requests`, ...tabs, `${one}/diffs?view=split`]);
});

test('nothing runs on boards, lists of issues, labels and milestones', { skip }, async () => {
  const pages = ['boards/1', 'boards/1/edit', 'labels', 'labels/1/edit', 'milestones', 'milestones/1'];
  await visit([`${base}/issues`, `${base}/issues/2`, ...pages.map((page) => `${base}/-/${page}`)]);
});

test('nothing runs in results of searches, also where they mark what was found', { skip }, async () => {
  const scopes = ['issues', 'merge_requests', 'milestones', 'blobs'];
  const within = `project=${encodeURIComponent(project.full_path)}`;
  const words = [word, `${word} "><img src=x onerror=alert(1)>`];
  await visit([
    ...scopes.map((scope) => `/search?search=${word}&scope=${scope}&${within}`),
    `/search?search=${encodeURIComponent(words[1] ?? '')}&scope=issues`,
  ]);
});

test('nothing runs on pages of branches, files and commits', { skip }, async () => {
  const branch = encodeURIComponent(branches[0] ?? '').replaceAll('%2F', '/');
  await visit([
    `${base}/-/tree/${branch}`,
    `${base}/-/commits/${branch}`,
    `${base}/-/commit/${commit}`,
    ...Object.keys(files).map((name) => `${base}/-/blob/${branch}/${encodeURIComponent(name)}`),
  ]);
});

test('the same checks find an attack where nothing is escaped', { skip }, async () => {
  await web.withPage(
    async (page) => {
      const seen = await watch(page);
      await page.goto('/users/sign_in');
      await page.evaluate(() => {
        type Body = { document: { querySelector: (name: string) => { innerHTML: string } } };
        (globalThis as unknown as Body).document.querySelector('main').innerHTML =
          '<img src="https://evil.example/x" onerror="alert(1)">';
      });
      await page.waitForTimeout(500);
      assert.equal((await page.evaluate(findActive)).length, 1);
      assert.deepEqual([seen.dialogs[0], seen.requests.size], ['1', 1]);
    },
    { bypassCSP: true },
  );
});
