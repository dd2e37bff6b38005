import type { Answer, Context } from '../handler_types.ts';
import { count, flag, oid } from '../exec/arguments.ts';
import type { Methods } from '../protocol.ts';
import type { Contributor } from '../protocol_records.ts';
import { requireCommit } from '../pool/read_object.ts';

/** Maximum commits to read: the newest, without merges. */
const maxCommits = 100_000;

/**
 * Lists the authors of a history by e-mail address, most commits first, with the name of the newest commit. Added and
 * deleted lines are 0, as in GitLab: counting would need a diff of every commit.
 */
export const listContributors = async (
  { commit }: Methods['contributors.list']['params'],
  context: Context,
): Promise<Answer<'contributors.list'>> => {
  await requireCommit(context, commit);
  const { stdout } = await context.exec.run({
    command: 'log',
    args: [
      flag('--no-merges'),
      count('--max-count=', maxCommits),
      flag('--no-show-signature'),
      flag('-z'),
      flag('--format=%an%n%ae'),
      flag('--end-of-options'),
      oid(commit),
    ],
    dir: context.dir,
    slot: 'interactive',
    seconds: 60,
    signal: context.signal,
  });
  const contributors = new Map<string, Contributor>();
  for (const line of stdout.toString('utf8').split('\0').filter(Boolean)) {
    const [name = '', email = ''] = line.split('\n');
    const contributor = contributors.get(email) ?? { name, email, commits: 0, additions: 0, deletions: 0 };
    contributor.commits += 1;
    contributors.set(email, contributor);
  }
  const sorted = [...contributors.values()].toSorted((a, b) => b.commits - a.commits);
  return { result: { contributors: sorted } };
};
