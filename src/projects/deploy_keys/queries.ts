import type { Call } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { projectsAtLeast } from '../../core/access/visible.ts';
import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { KeyRow } from '../../identity/keys/queries.ts';
import type { DeployKeyRow, KeyProject } from './json.ts';

const inProject = (db: Reader, projectId: number) =>
  db
    .selectFrom('deploy_key_projects')
    .innerJoin('keys', 'keys.id', 'deploy_key_projects.key_id')
    .where('deploy_key_projects.project_id', '=', projectId);

type KeyFilter = {
  /** True: only keys of the instance. */
  public?: boolean | undefined;
};

/** Lists the deploy keys of a project, oldest first. */
export const listProjectKeys = async (
  db: Reader,
  projectId: number,
  { limit, offset }: PageRequest,
  filter: KeyFilter = {},
): Promise<Page<DeployKeyRow>> => {
  const query = inProject(db, projectId).$if(filter.public === true, (keys) =>
    keys.where('keys.shared', '=', 1),
  );
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query
    .selectAll('keys')
    .select('deploy_key_projects.can_push')
    .orderBy('keys.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total };
};

/**
 * Loads a deploy key of this project.
 * @throws Failure 404 `404 Deploy Key Not Found`
 */
export const findInProject = async (db: Reader, projectId: number, keyId: number): Promise<DeployKeyRow> => {
  const row = await inProject(db, projectId)
    .selectAll('keys')
    .select('deploy_key_projects.can_push')
    .where('keys.id', '=', keyId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Deploy Key');
  return row;
};

/**
 * Loads a deploy key of the instance or of any projects.
 * @throws Failure 404 `404 Deploy Key Not Found`
 */
export const findAnyDeployKey = async (db: Reader, keyId: number): Promise<KeyRow> => {
  const row = await db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', keyId)
    .where('user_id', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Deploy Key');
  return row;
};

/** Lists the deploy keys of all projects and of the instance, oldest first. */
export const listAll = async (
  db: Reader,
  { limit, offset }: PageRequest,
  filter: KeyFilter = {},
): Promise<Page<KeyRow>> => {
  const query = db
    .selectFrom('keys')
    .where('user_id', 'is', null)
    .$if(filter.public === true, (keys) => keys.where('shared', '=', 1));
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query.selectAll().orderBy('id').limit(limit).offset(offset).execute();
  return { items, total };
};

/** Maximum number of projects shown with each key. */
const maxShownProjects = 100;

/** Loads the projects of these keys, by key. */
export const projectsOfKeys = async (
  db: Reader,
  keyIds: readonly number[],
): Promise<Map<number, KeyProject[]>> => {
  if (keyIds.length === 0) return new Map();
  const rows = await db
    .selectFrom((from) =>
      from
        .selectFrom('deploy_key_projects as links')
        .innerJoin('projects', 'projects.id', 'links.project_id')
        .select(['links.key_id', 'links.can_push', 'projects.id', 'projects.description', 'projects.name'])
        .select(['projects.path', 'projects.full_path', 'projects.created_at'])
        .select((is) =>
          is.fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('links.key_id').orderBy('projects.id'))
            .as('place'),
        )
        .where('links.key_id', 'in', keyIds)
        .where('projects.deleted_at', 'is', null)
        .as('placed'),
    )
    .selectAll()
    .where('place', '<=', maxShownProjects)
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, ({ key_id }) => key_id);
};

export type ReusableKey = Pick<KeyRow, 'id' | 'title' | 'fingerprint_sha256'>;

/** Lists deploy keys of the instance and of other projects that the caller administers, which this project does not have. */
export const listReusableKeys = async (
  { db, viewer, platform }: Call,
  projectId: number,
  limit: number,
): Promise<ReusableKey[]> =>
  await db
    .selectFrom('keys')
    .select(['keys.id', 'keys.title', 'keys.fingerprint_sha256'])
    .where('keys.user_id', 'is', null)
    .where((is) =>
      is.or([
        is('keys.shared', '=', 1),
        is('keys.id', 'in', (from) =>
          from
            .selectFrom('deploy_key_projects')
            .innerJoin('projects', 'projects.id', 'deploy_key_projects.project_id')
            .select('deploy_key_projects.key_id')
            .where('projects.deleted_at', 'is', null)
            .where(projectsAtLeast(viewer, levels.master, platform.store.dialect)),
        ),
      ]),
    )
    .where('keys.id', 'not in', (from) =>
      from.selectFrom('deploy_key_projects').select('key_id').where('project_id', '=', projectId),
    )
    .orderBy('keys.id')
    .limit(limit)
    .execute();
