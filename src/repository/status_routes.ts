import { sql } from 'kysely';
import { endpoint } from '../access/call.ts';
import { invalid, notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, decimal, id as idParam, object, oneOf, optional, text } from '../http/schema.ts';
import { basicUsersById } from '../users/json.ts';
import { type Code, findCode, projectParam } from './code.ts';
import { branchPrefix, findRef, requireRevision, tagPrefix } from './resolve.ts';
import { statusJson, statusShape } from './status_json.ts';
import { saveStatus, statusWords } from './status_write.ts';

const area = 'commit_statuses';
const shaParam = text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' });

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'What other systems say about a commit',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    sha: shaParam,
    ref: optional(text()),
    stage: optional(text({ description: 'accepted: they have none' })),
    name: optional(text()),
    all: boolean({ default: false, description: 'also what was said before of the same name' }),
    ...pageParams,
  }),
  reply: statusShape,
  list: true,
  handle: async (call, { id, sha, ref, name, all, ...params }) => {
    const code = await findCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const { limit, offset } = pageRequest(params);
    let query = call.db
      .selectFrom('commit_statuses')
      .where('project_id', '=', code.project.id)
      .where('sha', '=', commit);
    if (ref !== undefined && ref !== '') query = query.where('ref', '=', ref);
    if (name !== undefined && name !== '') query = query.where('name', '=', name);
    if (!all) {
      query = query.where(
        sql<boolean>`not exists (select 1 from commit_statuses as later
          where later.project_id = commit_statuses.project_id and later.sha = commit_statuses.sha
            and later.ref = commit_statuses.ref and later.name = commit_statuses.name
            and later.id > commit_statuses.id)`,
      );
    }
    const { total } = await query
      .select((of) => of.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await query.selectAll().orderBy('id').limit(limit).offset(offset).execute();
    const ids = rows.map((row) => row.author_id);
    const authors = await basicUsersById(call.db, ids);
    return { items: rows.map((row) => statusJson(row, authors.get(row.author_id), call)), total };
  },
});

/** Of which branch or tag is spoken; by default, of the first branch that has the commit. */
const refOf = async ({ repository }: Code, commit: string, given: string | undefined): Promise<string> => {
  if (given !== undefined && given !== '') {
    const name = given.replace(/^refs\/(?:heads|tags)\//, '');
    const isKnown =
      (await findRef(repository, branchPrefix + name)) !== null ||
      (await findRef(repository, tagPrefix + name)) !== null;
    if (!isKnown) throw notFound('References for commit');
    return name;
  }
  const { refs } = await repository.ask('commits.refs', { id: commit, type: 'branch' });
  const [first] = refs;
  if (first === undefined) throw notFound('References for commit');
  return first.name;
};

const isAddress = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '');

const post = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  summary: 'Say something about a commit',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    sha: shaParam,
    state: oneOf(statusWords),
    ref: optional(text({ description: 'branch or tag; default: the first that has the commit' })),
    name: optional(text({ description: 'default: `default`' })),
    context: optional(text({ description: 'another name of `name`' })),
    target_url: optional(text()),
    description: optional(text()),
    coverage: optional(decimal({ minimum: 0, maximum: 100 })),
    allow_failure: optional(boolean()),
    pipeline_id: optional(idParam('accepted, without effect')),
  }),
  reply: statusShape,
  handle: async (call, { id, sha, state, ref, name, context, target_url, ...given }) => {
    const code = await findCode(call, id, 'admin_commit_status');
    const { commit } = await requireRevision(code, sha);
    if (target_url !== undefined && target_url !== '' && !isAddress(target_url)) {
      throw invalid({ target_url: ['is blocked: Only allowed schemes are http, https'] });
    }
    const row = await saveStatus(call, {
      ...given,
      target_url: target_url === '' ? null : target_url,
      project_id: code.project.id,
      sha: commit,
      ref: await refOf(code, commit, ref),
      name: [name, context].find((one) => one !== undefined && one !== '') ?? 'default',
      status: state,
    });
    const authors = await basicUsersById(call.db, [row.author_id]);
    return statusJson(row, authors.get(row.author_id), call);
  },
});

export const statusRoutes = [list, post];
