/** Help as files: every link leads to a file and a place of it, and nothing is loaded from elsewhere. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { packageRoot } from '../../../../platform/package_files.ts';
import { renderHelpFiles } from './static_pages.ts';
import { topicGroups } from './topics.ts';

const topics = topicGroups.flatMap((group) => group.topics);

let files: Map<string, string>;
before(async () => void (files = await renderHelpFiles('body { color: black; }')));

test('there is a page of each topic, and one that lists them', () => {
  for (const { name, title } of topics) {
    const page = files.get(`${name}.html`) ?? '';
    assert.ok(page.includes(`<title>${title} · Gantry</title>`), name);
    assert.ok(files.get('index.html')?.includes(`href="${name}.html"`), name);
  }
});

test('every link leads to a file and a place of it', () => {
  const pages = [...files].filter(([name]) => name.endsWith('.html'));
  const faults = pages.flatMap(([name, page]) =>
    [...page.matchAll(/ (?:href|src)="([^"]*)"/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^(?:https?|mailto):/.test(target))
      .filter((target) => {
        const [file = '', anchor] = target.split('#');
        const found = file === '' ? page : files.get(file);
        const isThere = anchor === undefined || found?.includes(`id="${decodeURIComponent(anchor)}"`);
        return found === undefined || isThere !== true;
      })
      .map((target) => `${name}: ${target}`),
  );
  assert.deepEqual(faults, []);
  for (const [name, page] of pages)
    assert.doesNotMatch(page, /<(?:img|script|link|iframe)[^>]+(?:src|href)="https?:/, name);
  assert.match(files.get('backup.html') ?? '', /href="operations\.html#user-content-what-belongs-together"/);
});

test('the service and the unit find what the build writes', () => {
  const texts = JSON.parse(files.get('content.json') ?? '') as { [name: string]: string };
  assert.deepEqual(
    Object.keys(texts),
    topics.map(({ name }) => name),
  );
  const unit = readFileSync(join(packageRoot, 'deploy/systemd/gantry.service'), 'utf8');
  const [, file = ''] = /^Documentation=file:\/opt\/gantry\/dist\/help\/(\S+)$/m.exec(unit) ?? [];
  assert.ok(files.has(file), file);
});
