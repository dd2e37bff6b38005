import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import type { Context } from '../handler_types.ts';
import { makeExec } from '../exec/spawn.ts';
import { passesPushCheck } from './check_git_files.ts';

const { storage, repository } = useRepository();

const check = async (context: Context, text: string): Promise<boolean> =>
  await passesPushCheck(context, { name: '.gitmodules', mode: 0o100644, content: Buffer.from(text) });

const good = '[submodule "x"]\n\turl = https://example.com/x\n\tpath = x\n';

/** Replaces git by a shell script. */
const withGit = async (script: string): Promise<Context> => {
  const program = join(storage.root, `git-${Math.random()}`);
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  return { ...repository.context, exec: makeExec(program) };
};

it('accepts and refuses files as a push does', async () => {
  assert.equal(await check(repository.context, good), true);
  assert.equal(await check(repository.context, good.replace('https', '--upload-pack')), false);
});

it('does not blame the file when git does not start, is killed, or fails otherwise', async () => {
  const missing = { ...repository.context, exec: makeExec(join(storage.root, 'nothing')) };
  await assert.rejects(check(missing, good), { kind: 'internal' });
  await assert.rejects(check(await withGit('kill -9 $$'), good), { kind: 'unavailable', message: /SIGKILL/ });
  const full = await withGit('echo "fatal: write error: No space left on device" >&2; exit 128');
  await assert.rejects(check(full, good), { kind: 'internal', message: /No space left/ });
});
