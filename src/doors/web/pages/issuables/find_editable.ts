import type { Call } from '../../../../core/access/call.ts';
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import { forbidden } from '../../../../platform/errors.ts';
import type { IssuableKind } from './issuable_kind.ts';

/** Loads a record that the caller may edit. @throws Failure 404 for a hidden one, 403 without the right */
export const findEditable = async <L extends LoadedTarget>(
  kind: Pick<IssuableKind<L>, 'find' | 'noun'>,
  call: Call,
  { project, iid }: { project: string; iid: number },
): Promise<L> => {
  const loaded = await kind.find(call, project, iid);
  if (!kind.noun.mayUpdate(call, loaded)) throw forbidden();
  return loaded;
};
