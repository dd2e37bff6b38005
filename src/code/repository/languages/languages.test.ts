import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const read = async (files: Record<string, string>): Promise<unknown> => {
  const { id } = await seedProject(gantry);
  await seedCommit(gantry, id, files);
  const { status, text } = await gantry.api(`GET /projects/${id}/languages`);
  assert.equal(status, 200);
  return JSON.parse(text);
};

const bytes = (count: number): string => 'x'.repeat(count);

test('answers the share of each language by bytes, the largest first', async () => {
  const shares = await read({
    'src/a.ts': bytes(500),
    'b.test.tsx': bytes(100),
    'run.SH': bytes(200),
    Makefile: bytes(100),
    'page.html.erb': bytes(100),
    'empty.rb': '',
    'é.css': bytes(1),
  });
  assert.deepEqual(Object.entries(shares as object), [
    ['TypeScript', 59.94],
    ['Shell', 19.98],
    ['HTML+ERB', 9.99],
    ['Makefile', 9.99],
    ['CSS', 0.1],
  ]);
});

test('leaves out code of others, documentation, data, and what is generated', async () => {
  const shares = await read({
    'a.go': bytes(10),
    'go.mod': bytes(99),
    'vendor/x/b.go': bytes(99),
    'web/node_modules/x/index.js': bytes(99),
    'docs/conf.py': bytes(99),
    'examples/a.rs': bytes(99),
    '.github/run.sh': bytes(99),
    'a.min.js': bytes(99),
    'a.pb.go': bytes(99),
    'package.json': bytes(99),
    'README.md': bytes(99),
    'a.sql': bytes(99),
    'src/docs/b.py': bytes(10),
  });
  assert.deepEqual(shares, { Go: 50, Python: 50 });
});

test('counts headers as the language that has most of the other bytes', async () => {
  assert.deepEqual(await read({ 'a.c': bytes(10), 'a.h': bytes(30), 'b.py': bytes(60) }), {
    Python: 60,
    C: 40,
  });
  assert.deepEqual(await read({ 'a.c': bytes(10), 'a.h': bytes(30), 'b.cc': bytes(60) }), {
    'C++': 90,
    C: 10,
  });
});

test('answers nothing for an empty repository, and hides what the caller may not read', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const { token } = await seedUser(gantry);
  assert.deepEqual((await gantry.api(`GET /projects/${project.id}/languages`)).body, {});
  assert.equal((await gantry.api(`GET /projects/${project.id}/languages`, { as: token })).status, 404);
});

test('leaves out and counts what the .gitattributes of folders say', async () => {
  const shares = await read({
    '.gitattributes':
      '*.gen.ts linguist-generated\nvendor/own/** -linguist-vendored\ntools/** linguist-vendored\n',
    'a.go': bytes(10),
    'b.gen.ts': bytes(99),
    'vendor/own/c.py': bytes(10),
    'vendor/other/d.py': bytes(99),
    'tools/e.rb': bytes(99),
    'tools/mine/.gitattributes': '*.rb linguist-vendored=false\n',
    'tools/mine/f.rb': bytes(20),
  });
  assert.deepEqual(shares, { Ruby: 50, Go: 25, Python: 25 });
});

test('an attribute comes before the suggestion of the path for its own reason only', async () => {
  const shares = await read({
    '.gitattributes': '* -linguist-generated\n',
    'a.pb.go': bytes(10),
    'web/node_modules/b.js': bytes(99),
    'docs/c.py': bytes(99),
  });
  assert.deepEqual(shares, { Go: 100 });
});
