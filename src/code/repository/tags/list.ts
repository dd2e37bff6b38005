/** Lists and finds tags. */
import { notFound } from '../../../platform/errors.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import type { Ref } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { findRef, tagPrefix } from '../refs/resolve.ts';

export type TagFilter = {
  /** Part of the name. */
  search?: string | undefined;
  order_by: 'name' | 'updated';
  sort: 'asc' | 'desc';
};

export const listTags = async (
  { repository }: Code,
  { search, order_by, sort }: TagFilter,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<Ref>> => {
  const { refs, total } = await repository.ask('refs.list', {
    prefix: tagPrefix,
    ...(search !== undefined && search !== '' && { search }),
    sort: order_by,
    descending: sort === 'desc',
    offset,
    limit,
  });
  return { items: refs, total };
};

/** @throws Failure 404 */
export const requireTag = async ({ repository }: Code, tag: string): Promise<Ref> => {
  const ref = await findRef(repository, tagPrefix + tag);
  if (ref === null) throw notFound('Tag');
  return ref;
};
