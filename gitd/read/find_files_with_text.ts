/** Finds the paths of a commit's text files that contain a text, ignoring case. */
import type { Answer, Context } from '../handler_types.ts';
import { flag, oid, pattern } from '../exec/arguments.ts';
import type { Methods } from '../protocol.ts';
import { requireCommit } from '../pool/read_object.ts';

/** git reads every file of the commit. */
const maxSeconds = 15;

export const findFilesWithText = async (
  { commit, text }: Methods['tree.grep']['params'],
  context: Context,
): Promise<Answer<'tree.grep'>> => {
  await requireCommit(context, commit);
  const options = [
    flag('--no-color'),
    flag('--threads=1'),
    flag('-I'),
    flag('--ignore-case'),
    flag('--fixed-strings'),
    flag('--files-with-matches'),
    flag('--null'),
  ];
  const { stdout } = await context.exec.run({
    command: 'grep',
    args: [...options, ...pattern(text), oid(commit)],
    dir: context.dir,
    slot: 'interactive',
    seconds: maxSeconds,
    signal: context.signal,
    // 1: no file has the text.
    codes: [0, 1],
  });
  const names = stdout.toString('utf8').split('\0');
  return {
    result: { paths: names.filter((name) => name !== '').map((name) => name.slice(commit.length + 1)) },
  };
};
