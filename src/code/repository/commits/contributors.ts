import type { Contributor, Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';

/** Lists the authors of a history by e-mail address, in the order asked for. */
export const listContributors = async (
  { repository }: Pick<Code, 'repository'>,
  commit: Oid,
  { order_by, sort }: { order_by: 'name' | 'email' | 'commits'; sort: 'asc' | 'desc' },
): Promise<Contributor[]> => {
  const { contributors } = await repository.ask('contributors.list', { commit });
  const way = sort === 'asc' ? 1 : -1;
  return contributors.toSorted((a, b) => {
    const [one, other] = [a[order_by], b[order_by]];
    const order = one < other ? -1 : Number(one > other);
    return way * order || (a.email < b.email ? -1 : Number(a.email > b.email));
  });
};
