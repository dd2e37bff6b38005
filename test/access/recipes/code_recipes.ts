/**
 * Requests for the rows about a project's code. Each request that changes something has its own branch, tag or rule.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Tx } from '../../../src/platform/db/open.ts';
import { insertRow } from '../../../src/platform/db/insert.ts';
import { zeroOid } from '../../../src/platform/git/protocol_types.ts';
import { unique } from '../../support/seed.ts';
import { type Cell, type Maker, freshProject } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';
import { insertGroups, insertMembers } from '../makers/bulk_rows.ts';
import type { World } from '../world.ts';
import { openRepository } from '../../support/repositories/seed_commits.ts';

const code = '/projects/:id/repository';
const branches = `${code}/branches`;
const commit = `${code}/commits/:sha`;
const tags = `${code}/tags`;
const file = `${code}/files/:file_path`;
const protectedBranches = '/projects/:id/protected_branches';
const protectedTags = '/projects/:id/protected_tags';

const repositoriesOf = async (cells: Cell[], { gantry }: World) =>
  await Promise.all(
    [...Map.groupBy(cells, ({ names }) => Number(names['project']))].map(async ([id, own]) => ({
      own,
      repository: await openRepository(gantry, id),
    })),
  );

/** Creates a ref of its own at the project's commit. */
const freshRef =
  (prefix: string, name: string): Maker =>
  async (_tx, cells, world) => {
    for (const { own, repository } of await repositoriesOf(cells, world)) {
      for (const { names } of own) names[name] = unique('ref');
      const updates = own.map(({ names }) => ({
        ref: `${prefix}${names[name]}`,
        old: zeroOid,
        new: String(names['sha']),
      }));
      await repository.ask('refs.update', { updates });
    }
  };

const freshBranch = freshRef('refs/heads/', 'branch');
const freshTag = freshRef('refs/tags/', 'tag_name');

const signature = { name: 'Ada', email: 'ada@example.com', time: 1_500_000_000, offset: '+0000' };

/** Creates a commit on a branch of its own, which changes what all other branches have. */
const otherCommit: Maker = async (_tx, cells, world) => {
  for (const { own, repository } of await repositoriesOf(cells, world)) {
    const made = await repository.ask(
      'commit.actions',
      {
        parent: String(own[0]?.names['sha']),
        actions: [{ action: 'create', file_path: 'other', content: { offset: 0, length: 1 } }],
        message: 'Other',
        author: signature,
        committer: signature,
      },
      Buffer.from('x'),
    );
    if ('problem' in made) throw new Error(made.problem);
    const ref = `refs/heads/${unique('other')}`;
    await repository.ask('refs.update', { updates: [{ ref, old: zeroOid, new: made.id }] });
    for (const { names } of own) names['other_sha'] = made.id;
  }
};

/** Names shared by all requests. */
const named: Maker = async (_tx, cells) => {
  const blob_id = hash('sha1', 'blob 5\0Made\n');
  for (const { names } of cells) Object.assign(names, { file_path: 'README.md', blob_id, format: 'zip' });
};

const freshRule =
  (table: 'protected_branches' | 'protected_tags'): Maker =>
  async (tx, cells) => {
    for (const { names } of cells) {
      const rule = { project_id: Number(names['project']), name: unique('rule'), created_at: tx.now };
      names['name'] = rule.name;
      if (table === 'protected_tags') {
        await insertRow(tx.db, table, { ...rule, create_access_level: 40 });
      } else {
        await insertRow(tx.db, table, { ...rule, push_access_level: 40, merge_access_level: 40 });
      }
    }
  };

const releaseOfTag: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    await insertRow(tx.db, 'releases', {
      project_id: Number(names['project']),
      tag: String(names['tag_name']),
      name: null,
      description: 'Made',
      sha: null,
      author_id: null,
      created_at: tx.now,
      released_at: tx.now,
    });
  }
};

/** A discussion on the commit. */
const makeDiscussion =
  (by: 'self' | 'writer'): Maker =>
  async (tx, cells, { people }) => {
    for (const { names, person } of cells) {
      const discussion_id = randomBytes(20).toString('hex');
      const note_id = await insertRow(tx.db, 'commit_comments', {
        project_id: Number(names['project']),
        sha: String(names['sha']),
        author_id: by === 'self' ? (person.user_id ?? people.writer) : people.writer,
        note: 'Made',
        path: null,
        line: null,
        line_type: null,
        created_at: tx.now,
        discussion_id,
      });
      Object.assign(names, { discussion_id, note_id });
    }
  };

const [ownDiscussion, anothersDiscussion] = [makeDiscussion('self'), makeDiscussion('writer')];
const discussions = `${commit}/discussions`;
const said = () => ({ body: 'Other' });

/** A group in which everyone may create projects. */
const forkTarget: Maker = async (tx, cells, { top, people }) => {
  const [group] = await insertGroups(tx, top, 1, 'public');
  const ids = new Set(cells.map(({ person }) => person.user_id).filter((id) => id !== null));
  ids.delete(people.idOf('owner'));
  await insertMembers(
    tx,
    ['Namespace', [group?.id ?? 0]],
    [...ids].map((user_id) => ({ user_id, access_level: 40 })),
  );
  for (const { names } of cells) names['target'] = group?.id ?? 0;
};

const asFork = async ({ db }: Tx, cells: Cell[]): Promise<void> => {
  for (const { names } of cells) {
    await db
      .updateTable('projects')
      .set({ forked_from_project_id: Number(names['haven']) })
      .where('id', '=', Number(names['project']))
      .execute();
  }
};

type Named = { name: string };

const write = ({ branch }: { [name: string]: number | string }) => ({
  branch,
  commit_message: 'Change',
  content: 'Other',
});

export const codeRecipes: Record<string, Recipe> = {
  [`GET ${branches}`]: {
    query: 'search=main',
    holds: (item) => (item as unknown as Named).name === 'main',
  },
  [`POST ${branches}`]: { body: () => ({ branch: unique('made'), ref: 'main' }) },
  [`DELETE ${branches}/:branch`]: { makes: [freshBranch] },
  [`DELETE ${code}/merged_branches`]: { makes: [freshProject] },
  [`PUT ${branches}/:branch/protect`]: { makes: [freshBranch] },
  [`PUT ${branches}/:branch/unprotect`]: { makes: [freshBranch] },
  [`GET ${protectedBranches}`]: {
    query: 'search=main',
    holds: (item) => (item as unknown as Named).name === 'main',
  },
  [`GET ${protectedBranches}/:name`]: { path: { name: 'branch' } },
  [`POST ${protectedBranches}`]: { body: () => ({ name: unique('rule') }) },
  [`PATCH ${protectedBranches}/:name`]: {
    makes: [freshRule('protected_branches')],
    body: () => ({ allow_force_push: true }),
  },
  [`DELETE ${protectedBranches}/:name`]: { makes: [freshRule('protected_branches')] },
  [`GET ${protectedTags}/:name`]: { makes: [freshRule('protected_tags')] },
  [`POST ${protectedTags}`]: { body: () => ({ name: unique('rule') }) },
  [`DELETE ${protectedTags}/:name`]: { makes: [freshRule('protected_tags')] },
  [`GET ${tags}/:tag_name`]: { makes: [freshTag] },
  [`GET ${tags}/:tag_name/signature`]: { makes: [freshTag] },
  [`POST ${tags}`]: { body: () => ({ tag_name: unique('made'), ref: 'main' }) },
  [`DELETE ${tags}/:tag_name`]: { makes: [freshTag] },
  [`POST ${tags}/:tag_name/release`]: { makes: [freshTag], body: () => ({ description: 'Made' }) },
  [`PUT ${tags}/:tag_name/release`]: {
    makes: [freshTag, releaseOfTag],
    body: () => ({ description: 'Other' }),
  },
  [`POST ${code}/commits`]: {
    makes: [freshBranch],
    body: ({ branch }) => ({
      branch,
      commit_message: 'Change',
      actions: [{ action: 'update', file_path: 'README.md', content: 'Other' }],
    }),
  },
  [`POST ${commit}/cherry_pick`]: {
    makes: [freshBranch, otherCommit],
    path: { sha: 'other_sha' },
    body: ({ branch }) => ({ branch }),
  },
  [`POST ${commit}/revert`]: { makes: [freshBranch], body: ({ branch }) => ({ branch }) },
  [`POST ${commit}/comments`]: { body: () => ({ note: 'Made' }) },
  [`GET ${discussions}/:discussion_id`]: { makes: [anothersDiscussion] },
  [`POST ${discussions}`]: { body: said },
  [`POST ${discussions}/:discussion_id/notes`]: { makes: [anothersDiscussion], body: said },
  [`GET ${discussions}/:discussion_id/notes/:note_id`]: { makes: [anothersDiscussion] },
  [`PUT ${discussions}/:discussion_id/notes/:note_id {own}`]: { makes: [ownDiscussion], body: said },
  [`PUT ${discussions}/:discussion_id/notes/:note_id {another's}`]: {
    makes: [anothersDiscussion],
    body: said,
  },
  [`DELETE ${discussions}/:discussion_id/notes/:note_id {own}`]: { makes: [ownDiscussion] },
  [`DELETE ${discussions}/:discussion_id/notes/:note_id {another's}`]: { makes: [anothersDiscussion] },
  'POST /projects/:id/statuses/:sha': { body: () => ({ state: 'success', name: unique('made') }) },
  [`GET ${code}/blobs/:sha`]: { makes: [named], path: { sha: 'blob_id' } },
  [`GET ${code}/blobs/:sha/raw`]: { makes: [named], path: { sha: 'blob_id' } },
  [`GET ${file}`]: { makes: [named] },
  [`GET ${file}/raw`]: { makes: [named] },
  [`GET ${file}/blame`]: { makes: [named] },
  [`POST ${file}`]: { makes: [freshBranch, named], path: { file_path: 'branch' }, body: write },
  [`PUT ${file}`]: { makes: [freshBranch, named], body: write },
  [`DELETE ${file}`]: { makes: [freshBranch, named], body: write },
  [`GET ${code}/archive.:format`]: { makes: [named] },
  [`GET ${code}/compare`]: { query: 'from=:branch&to=:branch' },
  [`GET ${code}/changelog`]: { query: 'version=1.0.0&from=:branch' },
  [`POST ${code}/changelog`]: {
    makes: [freshBranch],
    body: ({ branch, sha }) => ({ version: '1.0.0', from: sha, branch }),
  },
  [`GET ${code}/merge_base`]: { query: 'refs[]=:branch&refs[]=:branch' },
  'GET /projects/:id/ci/lint {dry run}': { query: 'dry_run=true&dry_run_ref=main' },
  'POST /projects/:id/ci/lint': { body: () => ({ content: 'job: { script: make }' }) },
  'POST /projects/:id/fork': {
    makes: [forkTarget],
    body: ({ target }) => ({ namespace_id: target, name: unique('fork'), path: unique('fork') }),
  },
  'PUT /projects/:id/transfer': {
    makes: [freshProject, forkTarget],
    body: ({ target }) => ({ namespace: target }),
  },
  'DELETE /projects/:id/fork': { makes: [freshProject, asFork] },
  'POST /projects/:id/fork/:forked_from_id': {
    makes: [freshProject],
    path: { forked_from_id: 'haven' },
  },
};
