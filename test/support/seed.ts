/**
 * Inserts records directly into the store, for tests of endpoints whose records other endpoints create. Also inserts
 * every row that the service would write with them: routes, namespaces, counters, search text.
 */
import { randomBytes } from 'node:crypto';
import { generateTokenText } from '../../src/core/access/credentials/token_text.ts';
import type { Reader, Tx } from '../../src/platform/db/open.ts';
import type { IidKind } from '../../src/platform/db/schema/projects.ts';
import type {
  FeatureLevel,
  Flag,
  SourceType,
  Visibility,
} from '../../src/platform/db/schema/column_types.ts';
import { foldCase } from '../../src/platform/unicode.ts';
import { claimRoute, insertNamespace } from '../../src/identity/namespaces/create.ts';
import { generateRepositoryPath } from '../../src/platform/git/storages.ts';
import { takeIid } from '../../src/projects/projects/take_iid.ts';
import { insertToken } from '../../src/identity/tokens/create.ts';
import { insertUser } from '../../src/identity/users/create.ts';
import { hashPassword } from '../../src/identity/users/password.ts';
import type { TestService } from './service.ts';

const write = <T>(gantry: TestService, work: (tx: Tx) => Promise<T>): Promise<T> =>
  gantry.service.platform.store.write(work);

/** Returns a unique name. */
export const unique = (word: string): string => `${word}-${randomBytes(6).toString('hex')}`;

export type SeededUser = { id: number; username: string; token: string };

export type UserSeed = {
  username?: string;
  name?: string;
  /** Default: none. */
  password?: string;
  admin?: Flag;
  external?: Flag;
  state?: 'active' | 'blocked';
  /** Default: `api`. Empty: the user gets no token. */
  scopes?: string[];
};

/** A user with a personal namespace and a token. */
export const seedUser = async (gantry: TestService, seed: UserSeed = {}): Promise<SeededUser> => {
  const { username = unique('user'), password, scopes = ['api'], ...rest } = seed;
  const token = generateTokenText(randomBytes);
  const password_hash = password === undefined ? null : await hashPassword(password, randomBytes);
  const id = await write(gantry, async (tx) => {
    const names = { username, name: `Name of ${username}`, email: `${username}@example.com` };
    const user_id = await insertUser(tx, null, { ...names, password_hash, ...rest });
    const newToken = { user_id, kind: 'personal', name: 'test', scopes, expires_at: null } as const;
    if (scopes.length > 0) await insertToken(tx, null, newToken, token);
    return user_id;
  });
  return { id, username, token };
};

const getNamespace = async (db: Reader, id: number): Promise<{ id: number; full_path: string }> =>
  await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

export type SeededGroup = { id: number; path: string; full_path: string };

/** A group; `owner` becomes its owner, `parent` is the group above it. */
export const seedGroup = async (
  gantry: TestService,
  seed: { path?: string; parent?: number; visibility?: Visibility; owner?: number } = {},
): Promise<SeededGroup> => {
  const { path = unique('group'), parent, visibility = 'public', owner } = seed;
  const group = await write(gantry, async (tx) => {
    const above = parent === undefined ? null : await getNamespace(tx.db, parent);
    const full_path = above === null ? path : `${above.full_path}/${path}`;
    const common = {
      kind: 'group',
      parent_id: above?.id ?? null,
      owner_id: null,
      name: path,
      description: '',
    } as const;
    return { id: await insertNamespace(tx, { ...common, path, full_path, visibility }), path, full_path };
  });
  if (owner !== undefined) await seedMember(gantry, { user: owner, group: group.id, access_level: 50 });
  return group;
};

const personalNamespace = async (db: Reader, userId: number): Promise<number> => {
  const query = db
    .selectFrom('namespaces')
    .select('id')
    .where('owner_id', '=', userId)
    .where('kind', '=', 'user');
  return (await query.executeTakeFirstOrThrow()).id;
};

export type SeededProject = {
  id: number;
  path: string;
  full_path: string;
  namespace_id: number;
  repository_path: string;
};

export type ProjectSeed = {
  path?: string;
  visibility?: Visibility;
  /** Id of a namespace. Default: the personal one of `owner`. */
  namespace?: number;
  /** Id of a user. Default: root. */
  owner?: number;
  issues_access_level?: FeatureLevel;
  archived?: Flag;
};

export const seedProject = async (gantry: TestService, seed: ProjectSeed = {}): Promise<SeededProject> =>
  await write(gantry, async (tx) => {
    const { path = unique('project'), visibility = 'public', namespace, owner = 1, ...rest } = seed;
    const above = await getNamespace(tx.db, namespace ?? (await personalNamespace(tx.db, owner)));
    const names = { namespace_id: above.id, path, full_path: `${above.full_path}/${path}`, name: path };
    // Random, as createProject sets it: services of one process share caches of what a repository holds.
    const repository_path = generateRepositoryPath();
    const none = { description: null, default_branch: null, forked_from_project_id: null, deleted_at: null };
    const times = { created_at: tx.now, updated_at: tx.now, last_activity_at: tx.now };
    const made = { visibility, creator_id: owner, keep_latest_artifact: 0 } as const; // as createProject sets it
    const { id } = await tx.db
      .insertInto('projects')
      .values({ ...names, repository_path, ...made, ...none, ...times, ...rest })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx.db.insertInto('project_counters').values({ project_id: id }).execute();
    await claimRoute(tx, names.full_path, ['Project', id]);
    return { id, path, full_path: names.full_path, namespace_id: above.id, repository_path };
  });

/** Makes a user a member of a project or of a group. */
export const seedMember = async (
  gantry: TestService,
  seed: { user: number; project?: number; group?: number; access_level: number },
): Promise<void> => {
  const { user, project, group, access_level } = seed;
  const source: [SourceType, number] =
    project === undefined ? ['Namespace', group ?? 0] : ['Project', project];
  const [source_type, source_id] = source;
  await write(gantry, async (tx) => {
    const rest = { access_level, expires_at: null, created_by_id: null, created_at: tx.now };
    await tx.db
      .insertInto('members')
      .values({ user_id: user, source_type, source_id, ...rest })
      .execute();
  });
};

export type IssueSeed = {
  project: number;
  /** Id of a user. Default: root. */
  author?: number;
  title?: string;
  description?: string;
  state?: 'opened' | 'closed';
  confidential?: Flag;
  deleted?: boolean;
  /** Ids. */
  assignees?: readonly number[];
  labels?: readonly number[];
  milestone?: number;
};

export type SeededIssue = { id: number; iid: number; project_id: number };

/** Makes the next records of these kinds start after these iids. */
export const setIids = async (
  db: Reader,
  project_id: number,
  iids: { [kind in IidKind]?: number },
): Promise<void> => {
  for (const [kind, last] of Object.entries(iids)) {
    await db
      .insertInto('iid_sequences')
      .values({ project_id, kind: kind as IidKind, last })
      .onConflict((clash) => clash.columns(['project_id', 'kind']).doUpdateSet({ last }))
      .execute();
  }
};

const linkIssue = async (
  tx: Tx,
  issueId: number,
  { assignees = [], labels = [] }: IssueSeed,
): Promise<void> => {
  const shared = { target_type: 'Issue' as const, target_id: issueId, target_created_at: tx.now };
  if (labels.length > 0) {
    await tx.db
      .insertInto('label_links')
      .values(labels.map((label_id) => ({ ...shared, label_id })))
      .execute();
  }
  if (assignees.length > 0) {
    await tx.db
      .insertInto('assignees')
      .values(assignees.map((user_id, position) => ({ ...shared, user_id, position })))
      .execute();
  }
};

export const seedIssue = async (gantry: TestService, seed: IssueSeed): Promise<SeededIssue> =>
  await write(gantry, async (tx) => {
    const { project, author = 1, title = 'Seeded', description, state = 'opened', confidential = 0 } = seed;
    const iid = await takeIid(tx, project, 'issue');
    const none = {
      due_date: null,
      moved_to_id: null,
      closed_at: state === 'closed' ? tx.now : null,
      closed_by_id: null,
    };
    const times = {
      created_at: tx.now,
      updated_at: tx.now,
      deleted_at: seed.deleted === true ? tx.now : null,
    };
    const links = { author_id: author, milestone_id: seed.milestone ?? null };
    const texts = { title, description: description ?? null };
    const { id } = await tx.db
      .insertInto('issues')
      .values({ project_id: project, iid, ...texts, state, confidential, ...links, ...none, ...times })
      .returning('id')
      .executeTakeFirstOrThrow();
    const folded = { title: foldCase(title), description: foldCase(description ?? '') };
    await tx.db
      .insertInto('issue_search')
      .values({ issue_id: id, ...folded })
      .execute();
    await linkIssue(tx, id, seed);
    return { id, iid, project_id: project };
  });

export type MergeRequestSeed = {
  /** The target's id. */
  project: number;
  /** Id of a user. Default: root. */
  author?: number;
  title?: string;
  description?: string;
  state?: 'opened' | 'closed' | 'merged';
  source_branch?: string;
  target_branch?: string;
  deleted?: boolean;
  /** Ids. */
  assignees?: readonly number[];
  labels?: readonly number[];
  milestone?: number;
  created_at?: number;
  updated_at?: number;
};

const linkTarget = async (
  tx: Tx,
  target: { target_type: 'MergeRequest'; target_id: number; target_created_at: number },
  { assignees = [], labels = [] }: MergeRequestSeed,
): Promise<void> => {
  if (labels.length > 0) {
    await tx.db
      .insertInto('label_links')
      .values(labels.map((label_id) => ({ ...target, label_id })))
      .execute();
  }
  if (assignees.length > 0) {
    await tx.db
      .insertInto('assignees')
      .values(assignees.map((user_id, position) => ({ ...target, user_id, position })))
      .execute();
  }
};

/** A merge request without code: its branches need not exist, and it has no version. */
export const seedMergeRequest = async (gantry: TestService, seed: MergeRequestSeed): Promise<SeededIssue> =>
  await write(gantry, async (tx) => {
    const { project, author = 1, title = 'Seeded', description = null, state = 'opened' } = seed;
    const { created_at = tx.now, updated_at = tx.now } = seed;
    const iid = await takeIid(tx, project, 'merge_request');
    const { id } = await tx.db
      .insertInto('merge_requests')
      .values({
        project_id: project,
        source_project_id: project,
        iid,
        title,
        description,
        state,
        source_branch: seed.source_branch ?? unique('branch'),
        target_branch: seed.target_branch ?? 'main',
        author_id: author,
        milestone_id: seed.milestone ?? null,
        merge_status: 'unchecked',
        checked_source_sha: null,
        checked_target_sha: null,
        diff_id: null,
        head_sha: null,
        merge_commit_sha: null,
        squash_commit_sha: null,
        merge_user_id: null,
        should_remove_source_branch: null,
        merge_error: null,
        merged_at: state === 'merged' ? tx.now : null,
        merged_by_id: state === 'merged' ? author : null,
        closed_at: state === 'closed' ? tx.now : null,
        closed_by_id: state === 'closed' ? author : null,
        created_at,
        updated_at,
        deleted_at: seed.deleted === true ? tx.now : null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const folded = { title: foldCase(title), description: foldCase(description ?? '') };
    await tx.db
      .insertInto('merge_request_search')
      .values({ merge_request_id: id, ...folded })
      .execute();
    const target = { target_type: 'MergeRequest', target_id: id, target_created_at: created_at } as const;
    await linkTarget(tx, target, seed);
    return { id, iid, project_id: project };
  });
