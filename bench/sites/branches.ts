/** Creates many branches of a project, each with a commit of its own, in one push. */
import { execFileSync } from 'node:child_process';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { git } from './git_site.ts';

/**
 * Pushes branches on top of `main`.
 * @param folder an empty folder, for a clone
 */
export const pushBranches = async (folder: string, url: string, count: number): Promise<void> => {
  await git(folder, 'clone', '--quiet', '--bare', '--branch', 'main', url, 'clone.git');
  const dir = `${folder}/clone.git`;
  const commands = Array.from(
    { length: count },
    (_none, at) =>
      `commit refs/heads/topic-${at}\ncommitter Ada <ada@example.com> ${1_700_000_000 + at} +0000\n` +
      `data 6\nChange\nfrom refs/heads/main\nM 100644 inline topic.txt\ndata ${String(at).length}\n${at}\n\n`,
  );
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: dir,
    env: gitEnvironment(),
    input: commands.join(''),
  });
  await git(dir, 'push', '--quiet', url, 'refs/heads/topic-*:refs/heads/topic-*');
};
