import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSubmodules } from '../../../../code/repository/files/submodules.ts';
import { submoduleUrl } from './submodule_link.ts';

test('reads the addresses of submodules by path', () => {
  const text =
    '# none\n[submodule "a"]\n\tpath = lib/a\n\turl = ../a.git\n\tbranch = x\n' +
    '[other]\npath = c\nurl = d\n  [submodule "b \\"q"]\r\n  url="https://e.example/b"\r\n  path=b\r\n[submodule "c"]\npath = c';
  assert.deepEqual(
    [...parseSubmodules(text)],
    [
      ['lib/a', '../a.git'],
      ['b', 'https://e.example/b'],
    ],
  );
});

for (const [url, href, isOwn] of [
  ['../other.git', '/group/sub/other', true],
  ['../../x/y', '/group/x/y', true],
  ['./inner', '/group/sub/project/inner', true],
  ['https://git.example.com/a/b.git/', '/a/b', true],
  ['https://e.example/a/b.git?x', 'https://e.example/a/b', false],
  ['https://user:secret@e.example/a', 'https://e.example/a', false],
  ['git@e.example:a/b.git', null, false],
  ['ssh://git@e.example/a', null, false],
  ['javascript:alert(1)', null, false],
  ['../../../../x', null, false],
  ['', null, false],
] as const) {
  test(`a submodule of ${url}`, () => {
    const found = submoduleUrl(url, { full_path: 'group/sub/project' }, 'https://git.example.com');
    assert.deepEqual(found, href === null ? null : { href, isOwn });
  });
}
