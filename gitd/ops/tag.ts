import type { Answer, Context } from '../context.ts';
import { GitError } from '../failure.ts';
import { buildTag } from '../odb/tag.ts';
import type { Methods } from '../protocol.ts';
import { isShortName } from '../refs/names.ts';
import { flush, kindOfObject, writerOf } from './objects.ts';

/** The object of an annotated tag. */
export const createTag = async (
  { name, target, message, tagger }: Methods['tag.create']['params'],
  context: Context,
): Promise<Answer<'tag.create'>> => {
  if (!isShortName(name)) throw new GitError('invalid', 'not the name of a tag');
  const kind = await kindOfObject(context, target);
  const writer = writerOf(context);
  const id = writer.add('tag', buildTag({ target, kind, name, tagger, message }));
  await flush(writer);
  return { result: { id } };
};
