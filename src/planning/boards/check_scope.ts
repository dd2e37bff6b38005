/** Checks the labels, milestones and users that boards and their lists name. */
import { loadActingViewer } from '../../core/access/background_actor.ts';
import { loadProjectViewers } from '../../core/access/project_viewers.ts';
import { canSeeProject } from '../../core/access/visible.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { invalid, refused } from '../../platform/errors.ts';
import { type Owner, availableTo } from '../../projects/project_or_group/owner.ts';
import type { BoardOwner } from './owner.ts';

/** @throws Failure 400 for a label that neither the owner nor a group above has */
export const checkLabel = async (db: Reader, owner: Owner, id: number): Promise<void> => {
  const label = await db
    .selectFrom('labels')
    .select('id')
    .where('id', '=', id)
    .where(availableTo('labels', owner))
    .executeTakeFirst();
  if (label === undefined) throw refused('Label not found!');
};

/** @throws Failure 400 for a milestone that neither the owner nor a group above has */
export const checkMilestone = async (db: Reader, owner: Owner, id: number): Promise<void> => {
  const milestone = await db
    .selectFrom('milestones')
    .select('id')
    .where('id', '=', id)
    .where(availableTo('milestones', owner))
    .executeTakeFirst();
  if (milestone === undefined) throw refused('Milestone not found!');
};

/** Returns whether an active user sees a group. */
const canSeeGroup = async (tx: Tx, groupId: number, userId: number): Promise<boolean> => {
  const viewer = await loadActingViewer(tx.db, userId, tx.now);
  if (viewer === null) return false;
  const group = await tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', groupId)
    .where(visibleGroups(viewer, tx.dialect))
    .executeTakeFirst();
  return group !== undefined;
};

/** @throws Failure 400 for a user who is missing, blocked, or cannot see the project or group */
export const checkAssignee = async (tx: Tx, { project, group }: BoardOwner, id: number): Promise<void> => {
  if (project === null) {
    if (await canSeeGroup(tx, group.id, id)) return;
  } else {
    const viewer = (await loadProjectViewers(tx.db, project, [id], tx.now)).get(id);
    if (viewer !== undefined && canSeeProject(viewer, project)) return;
  }
  throw refused('User not found!');
};

/** Finds labels by title; of two with the same title, the owner's own. @throws Failure 400 for an unknown title */
export const findScopeLabels = async (
  db: Reader,
  owner: Owner,
  titles: readonly string[],
): Promise<number[]> => {
  const requested = [...new Set(titles)].filter((title) => title !== '');
  if (requested.length === 0) return [];
  const rows = await db
    .selectFrom('labels')
    .select(['id', 'title', 'project_id', 'group_id'])
    .where('title', 'in', requested)
    .where(availableTo('labels', owner))
    .orderBy('id')
    .execute();
  return requested.map((title) => {
    const titled = rows.filter((row) => row.title === title);
    const own = titled.find(
      (row) => (owner.kind === 'projects' ? row.project_id : row.group_id) === owner.id,
    );
    const label = own ?? titled[0];
    if (label === undefined) throw invalid({ labels: [`There is no label ${title}`] });
    return label.id;
  });
};
