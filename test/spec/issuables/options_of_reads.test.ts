/** Options of reads that add fields: labels as objects, diverged commits, texts as HTML. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openFromBranch, seedCoded, toPath } from '../../support/seed_merge_requests.ts';
import { seedGroup } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Label = { id: number; name: string };

const post = async (path: string, json: object) => {
  const { status, body, text } = await gantry.api(`POST ${path}`, { json });
  assert.equal(status, 201, text);
  return body;
};

/** The labels of the first record, read twice: the second answer may be a kept one. */
const read = async (path: string): Promise<Label[]> => {
  const first = await gantry.api(`GET ${path}`);
  const second = await gantry.api(`GET ${path}`);
  assert.equal(first.status, 200, first.text);
  assert.deepEqual([second.body, second.headers.get('etag')], [first.body, first.headers.get('etag')]);
  return first.body[0].labels;
};

test('lists of issues and merge requests have labels as objects on request', async () => {
  const group = await seedGroup(gantry);
  const project = await seedCoded(gantry, { namespace: group.id });
  const path = `/projects/${project.id}`;
  const bug = { name: 'bug', color: '#ff0000', description: 'Broken & <b>bad</b>' };
  const { id } = await post(`${path}/labels`, bug);
  const plain = await post(`/groups/${group.id}/labels`, { name: 'plain', color: '#ffffff' });
  const labels = 'bug,plain';
  const issue = await post(`${path}/issues`, { title: 'One', labels });
  await openFromBranch(gantry, project, 'side', { labels });
  const details = [
    {
      id,
      ...bug,
      description_html: 'Broken &amp; &lt;b&gt;bad&lt;/b&gt;',
      text_color: '#FFFFFF',
    },
    {
      id: plain.id,
      name: 'plain',
      color: plain.color,
      description: null,
      description_html: '',
      text_color: plain.text_color,
    },
  ];
  const lists = ['issues', 'merge_requests'].flatMap((kind) => [
    `${path}/${kind}?`,
    `/groups/${group.id}/${kind}?`,
    `/${kind}?scope=all&`,
  ]);
  for (const list of lists) {
    assert.deepEqual(await read(`${list}with_labels_details=true`), details, list);
    assert.deepEqual(await read(`${list}with_labels_details=false`), ['bug', 'plain'], list);
    assert.deepEqual(await read(list), ['bug', 'plain'], list);
  }
  await gantry.api(`PUT ${path}/labels/${id}`, { json: { color: '#00ff00' } });
  for (const list of lists)
    assert.equal(
      ((await read(`${list}with_labels_details=true`))[0] as { color?: string } | undefined)?.color,
      '#00ff00',
      list,
    );
  const [named] = await gantry
    .api(`GET ${path}/issues?with_labels_details=true`)
    .then(({ body }) => body as Record<string, unknown>[]);
  const [listed] = await gantry.api(`GET ${path}/issues`).then(({ body }) => body);
  assert.deepEqual({ ...named, labels: issue.labels }, listed);
});

test('a merge request counts the commits that its source lacks, on request', async () => {
  const project = await seedCoded(gantry);
  const path = toPath(await openFromBranch(gantry, project, 'behind'));
  const count = async () =>
    (await gantry.api(`GET ${path}?include_diverged_commits_count=true`)).body.diverged_commits_count;
  assert.equal(await count(), 0);
  for (const file_path of ['a', 'b'])
    await post(`/projects/${project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Go on',
      actions: [{ action: 'create', file_path, content: 'x' }],
    });
  assert.equal(await count(), 2);
  const { body } = await gantry.api(`GET ${path}?include_rebase_in_progress=true`);
  assert.deepEqual([body.rebase_in_progress, 'diverged_commits_count' in body], [false, false]);
});

test('a merge request and releases have their texts as HTML, on request', async () => {
  const project = await seedCoded(gantry);
  const { web_url } = await post(`/projects/${project.id}/issues`, { title: 'One' });
  const request = await openFromBranch(gantry, project, 'shown', {
    title: 'Mend <b> of #1',
    description: '**bold** <script>x</script>',
  });
  const { body } = await gantry.api(`GET ${toPath(request)}?render_html=true`);
  assert.match(body.title_html, new RegExp(`^Mend &lt;b&gt; of <a href="${web_url}"[^>]*>#1</a>$`));
  assert.match(body.description_html, /<strong>bold<\/strong>/);
  assert.doesNotMatch(body.description_html, /<script/);
  const plain = await gantry.api(`GET ${toPath(request)}`);
  assert.equal('description_html' in plain.body, false);
  const releases = `/projects/${project.id}/releases`;
  await post(releases, { tag_name: 'v1', ref: 'main', description: '# News' });
  for (const path of [releases, `${releases}/v1`]) {
    const read = async (query: string) => [(await gantry.api(`GET ${path}?${query}`)).body].flat()[0];
    assert.match((await read('include_html_description=true')).description_html, /<h1[^>]*>.*News.*<\/h1>/s);
    assert.equal('description_html' in (await read('')), false);
  }
});
