import { type Call, endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { invalid, notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, decimal, id as idParam, object, oneOf, optional, text } from '../http/schema.ts';
import { basicUsersById } from '../users/json.ts';
import { type Code, findCode, projectParam, webUrlOf } from './code.ts';
import { branchPrefix, findRef, requireRevision, tagPrefix } from './resolve.ts';
import { statusJson, statusShape } from './status_json.ts';
import { listStatuses } from './status_list.ts';
import { saveStatus, statusWords } from './status_write.ts';

const area = 'commit_statuses';
const shaParam = text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' });

const placeOf = ({ baseUrl, settings }: Call, { project }: Code) => ({
  baseUrl,
  settings,
  projectUrl: webUrlOf({ baseUrl }, project),
});

/** A parameter that is there but empty is as none. */
const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'How it stands with a commit: the jobs of its pipelines, and what other systems say',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    sha: shaParam,
    ref: optional(text()),
    stage: optional(text({ description: '`external`: what other systems say' })),
    name: optional(text()),
    pipeline_id: optional(idParam('the jobs of this pipeline alone')),
    all: boolean({ default: false, description: 'also what another of the same name has followed' }),
    ...pageParams,
  }),
  reply: statusShape,
  list: true,
  handle: async (call, { id, sha, ref, stage, name, pipeline_id, all, ...params }) => {
    const code = await findCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const { items, total } = await listStatuses(
      call.db,
      {
        project_id: code.project.id,
        sha: commit,
        ref: given(ref),
        stage: given(stage),
        name: given(name),
        pipeline_id,
        all,
      },
      { ...pageRequest(params), withJobs: may(call.viewer, 'read_pipeline', code.project) },
    );
    const authors = await basicUsersById(
      call.db,
      items.flatMap(({ author_id }) => author_id ?? []),
    );
    const authorOf = (author: number | null) => (author === null ? undefined : authors.get(author));
    const place = placeOf(call, code);
    return {
      items: items.map((row) => statusJson(row, { sha: commit, author: authorOf(row.author_id) }, place)),
      total,
    };
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
    const told = { ...row, pipeline_id: null };
    return statusJson(told, { sha: commit, author: authors.get(row.author_id) }, placeOf(call, code));
  },
});

export const statusRoutes = [list, post];
