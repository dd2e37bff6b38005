import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import {
  boolean,
  decimal,
  id as idParam,
  object,
  oneOf,
  optional,
  text,
} from '../../../platform/http/schema.ts';
import { type Code, findCode, projectParam } from '../../../code/repository/find_code.ts';
import { requireRevision } from '../../../code/repository/refs/resolve.ts';
import { statusJson, toStatusContext, statusShape } from '../../../code/repository/statuses/json.ts';
import { basicUsersById } from '../../../identity/users/json.ts';
import { findNewestPipeline, pipelineNotFound } from './external_pipeline.ts';
import { resolveNamedRef } from '../creation/named_ref.ts';
import { saveStatus, statusWords } from './save_status.ts';
import { omitEmpty } from '../../../platform/omit_empty.ts';

type StatusRef = { ref: string; tag: 0 | 1 };

/** Finds the ref, by default the first branch that contains the commit. null if there is none. */
const findRefInRepository = async (
  { repository }: Code,
  commit: string,
  ref: string | undefined,
): Promise<StatusRef | null> => {
  if (ref === undefined) {
    const { refs } = await repository.ask('commits.refs', { id: commit, type: 'branch' });
    const [first] = refs;
    return first === undefined ? null : { ref: first.name, tag: 0 };
  }
  const namedRef = await resolveNamedRef(repository, ref);
  return namedRef === null ? null : { ref: namedRef.ref.name, tag: toFlag(namedRef.ref.type === 'tag') };
};

type RefQuery = { ref: string | undefined; pipeline_id?: number | undefined; counts: boolean };

/**
 * Resolves the branch or tag of a status. Default: the ref of the newest pipeline, otherwise the first branch that
 * contains the commit.
 * @throws Failure 404
 */
const resolveStatusRef = async (
  { db }: Call,
  code: Code,
  commit: string,
  { ref, pipeline_id, counts }: RefQuery,
): Promise<StatusRef> => {
  const short = ref?.replace(/^refs\/(?:heads|tags)\//, '');
  const query = { project_id: code.project.id, sha: commit, ref: short, pipeline_id };
  const pipeline = counts ? await findNewestPipeline(db, query) : null;
  if (pipeline === null && pipeline_id !== undefined) throw pipelineNotFound();
  const statusRef = pipeline ?? (await findRefInRepository(code, commit, ref));
  if (statusRef === null) throw notFound('References for commit');
  return { ref: statusRef.ref, tag: statusRef.tag };
};

const isHttpUrl = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '');

/** Sets a commit status. The `GET` endpoint of this path is in the repository folder. */
export const statusPost = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  summary: 'Set the status of a commit',
  area: 'commit_statuses',
  audience: 'user',
  params: object({
    id: projectParam,
    sha: text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' }),
    state: oneOf(statusWords),
    ref: optional(
      text({
        description:
          'branch or tag; default: the ref of its newest pipeline, or the first branch that contains it',
      }),
    ),
    name: optional(text({ description: 'default: `default`' })),
    context: optional(text({ description: 'alias of `name`' })),
    target_url: optional(text()),
    description: optional(text()),
    coverage: optional(decimal({ minimum: 0, maximum: 100 })),
    allow_failure: optional(boolean()),
    pipeline_id: optional(idParam('pipeline of the status; default: the newest of the commit and `ref`')),
  }),
  reply: statusShape,
  handle: async (call, { id, sha, state, ref, name, context, target_url, pipeline_id, ...params }) => {
    const code = await findCode(call, id, 'admin_commit_status');
    const { commit } = await requireRevision(code, sha);
    if (target_url !== undefined && target_url !== '' && !isHttpUrl(target_url)) {
      throw invalid({ target_url: ['is blocked: Only allowed schemes are http, https'] });
    }
    const counts = code.project.builds_access_level !== 'disabled';
    const row = await saveStatus(call, {
      ...params,
      ...(await resolveStatusRef(call, code, commit, { ref: omitEmpty(ref), pipeline_id, counts })),
      pipeline_id,
      counts,
      target_url: target_url === '' ? null : target_url,
      project_id: code.project.id,
      sha: commit,
      name: [name, context].find((one) => one !== undefined && one !== '') ?? 'default',
      status: state,
    });
    const authors = await basicUsersById(call.db, [row.author_id]);
    const statusRow = { ...row, of_job: 0 as const };
    return statusJson(
      statusRow,
      { sha: commit, author: authors.get(row.author_id) },
      toStatusContext(call, code),
    );
  },
});
