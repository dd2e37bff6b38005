import type { Answer, Context } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { buildTag } from '../odb/raw_tag.ts';
import type { Methods } from '../protocol.ts';
import { isShortName } from '../ref_names.ts';
import { flushObjects, makeRepositoryWriter } from '../odb/flush_objects.ts';
import { readObjectKind } from '../pool/read_object.ts';

/** Creates the object of an annotated tag. */
export const createTagObject = async (
  { name, target, message, tagger }: Methods['tag.create']['params'],
  context: Context,
): Promise<Answer<'tag.create'>> => {
  if (!isShortName(name)) throw new GitError('invalid', 'not the name of a tag');
  const kind = await readObjectKind(context, target);
  const writer = makeRepositoryWriter(context);
  const id = writer.add('tag', buildTag({ target, kind, name, tagger, message }));
  await flushObjects(writer);
  return { result: { id } };
};
