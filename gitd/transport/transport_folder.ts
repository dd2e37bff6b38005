/** Creates the transport's own files: hook scripts, an empty repository, cached packs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../handler_types.ts';
import { ensureRepository } from '../storage/create_repository.ts';

export const transportFolder = (root: string): string => join(root, '+transport');

/**
 * The script of pre-receive and post-receive. It passes git's input to gitd over file descriptor 3, inherited from
 * `git receive-pack`. Each text ends with NUL, which no text of a pusher contains. It prints the answer for the
 * pusher and exits with the given code.
 */
const hookScript = `#!/bin/sh
count=\${GIT_PUSH_OPTION_COUNT:-0}
{
  printf '%s\\0' "\${0##*/}" "$GIT_QUARANTINE_PATH" "$count"
  at=0
  while [ "$at" -lt "$count" ]; do
    eval "printf '%s\\\\0' \\"\\$GIT_PUSH_OPTION_$at\\""
    at=$((at + 1))
  done
  cat
  printf '\\0'
} >&3
read -r code <&3 || exit 1
while IFS= read -r line <&3; do
  [ "$line" = . ] && exit "$code"
  printf '%s\\n' "\${line#:}" >&2
done
exit 1
`;

const makeHooks = async (root: string): Promise<string> => {
  const folder = join(transportFolder(root), 'hooks');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of ['pre-receive', 'post-receive']) {
    await writeFile(join(folder, name), hookScript, { mode: 0o700 });
  }
  return folder;
};

const makeEmpty = async ({ root }: Storage): Promise<string> => {
  const dir = join(transportFolder(root), 'empty.git');
  await ensureRepository({ root, dir });
  return dir;
};

const kept = (make: (storage: Storage) => Promise<string>) => {
  const made = new Map<string, Promise<string>>();
  return async (storage: Storage): Promise<string> => {
    const before = made.get(storage.root);
    if (before !== undefined) return await before;
    const making = make(storage);
    made.set(storage.root, making);
    making.catch(() => made.delete(storage.root));
    return await making;
  };
};

/** Creates the folder for `core.hooksPath`: repositories contain no hooks. */
export const hooksFolder = kept(async ({ root }) => await makeHooks(root));

/** Creates an empty repository, read in place of repositories that were never written to. */
export const emptyRepository = kept(makeEmpty);
