/** The differences between the endpoints of boards of projects and of groups. */
import type { Call } from '../../core/access/call.ts';
import { id, idOrPath, integer, optional } from '../../platform/http/schema.ts';
import type { OwnerKind } from '../../projects/project_or_group/owner.ts';
import { findBoardOwner } from './owner.ts';

export const side = (kind: OwnerKind) => {
  const noun = kind === 'projects' ? 'project' : 'group';
  return {
    noun,
    boards: `/${kind}/:id/boards`,
    shared: { area: 'boards', audience: 'user' } as const,
    owner: { id: idOrPath(noun) },
    toRead: async (call: Call, ownerId: number | string) => await findBoardOwner(call, kind, ownerId, 'read'),
    toChange: async (call: Call, ownerId: number | string) =>
      await findBoardOwner(call, kind, ownerId, 'admin'),
  };
};

export type Side = ReturnType<typeof side>;

export const oneBoard = { board_id: id('id of the board') };

export const maxNumber = 2 ** 31 - 1;

export const max_issue_count = optional(
  integer({
    minimum: 0,
    maximum: maxNumber,
    description: 'maximum number of issues before the list warns; 0: no limit',
  }),
);
