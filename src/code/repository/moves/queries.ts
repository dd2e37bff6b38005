import type { Reader } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../../platform/http/page.ts';

/** Moves with their projects. @param projectId null: of all projects */
const selectMoves = (db: Reader, projectId: number | null) =>
  db
    .selectFrom('repository_moves')
    .innerJoin('projects', 'projects.id', 'repository_moves.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select([
      'repository_moves.id',
      'repository_moves.created_at',
      'repository_moves.state',
      'repository_moves.source_storage',
      'repository_moves.destination_storage',
      'repository_moves.error',
      'projects.id as project_id',
      'projects.description',
      'projects.name',
      'projects.path',
      'projects.full_path',
      'projects.created_at as project_created_at',
      'namespaces.id as namespace_id',
      'namespaces.name as namespace_name',
      'namespaces.parent_id as namespace_parent_id',
    ])
    .where('projects.deleted_at', 'is', null)
    .$if(projectId !== null, (all) => all.where('repository_moves.project_id', '=', projectId ?? 0));

export type MoveRow = Awaited<ReturnType<ReturnType<typeof selectMoves>['execute']>>[number];

/** Lists moves, newest first. */
export const listMoves = async (
  db: Reader,
  projectId: number | null,
  page: PageRequest,
): Promise<Page<MoveRow>> => {
  const items = await selectMoves(db, projectId)
    .orderBy('repository_moves.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return await withTotal(page, items, async () => {
    const counted = await db
      .selectFrom('repository_moves')
      .innerJoin('projects', 'projects.id', 'repository_moves.project_id')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('projects.deleted_at', 'is', null)
      .$if(projectId !== null, (all) => all.where('repository_moves.project_id', '=', projectId ?? 0))
      .executeTakeFirstOrThrow();
    return { total: counted.total };
  });
};

/** @throws Failure 404 */
export const findMove = async (db: Reader, projectId: number | null, id: number): Promise<MoveRow> => {
  const row = await selectMoves(db, projectId).where('repository_moves.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
};
