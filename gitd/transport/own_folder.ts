/** What the transport keeps beside the repositories: scripts for hooks, an empty repository, packs for some minutes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../context.ts';
import { ensureRepository } from '../storage/create.ts';

export const ownFolder = (root: string): string => join(root, '+transport');

/**
 * Runs as pre-receive and as post-receive: hands what git says to us over the file descriptor 3, which it has from
 * `git receive-pack` (each text ended by NUL, which a pusher cannot write into any of them), shows what we answer to the pusher, and ends with the code that we say.
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
  const folder = join(ownFolder(root), 'hooks');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of ['pre-receive', 'post-receive']) {
    // oxlint-disable-next-line no-await-in-loop -- two small files
    await writeFile(join(folder, name), hookScript, { mode: 0o700 });
  }
  return folder;
};

const makeEmpty = async ({ root }: Storage): Promise<string> => {
  const dir = join(ownFolder(root), 'empty.git');
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

/** Folder of the hooks, for `core.hooksPath`: nothing of them lies in repositories. */
export const hooksFolder = kept(async ({ root }) => await makeHooks(root));

/** A repository in which nothing is: for those that were never written. */
export const emptyRepository = kept(makeEmpty);
