import { type Call, endpoint } from '../access/call.ts';
import { invalid, notFound } from '../errors.ts';
import { boolean, decimal, id as idParam, object, oneOf, optional, text } from '../http/schema.ts';
import { type Code, findCode, projectParam } from '../repository/code.ts';
import { requireRevision } from '../repository/resolve.ts';
import { statusJson, statusPlace, statusShape } from '../repository/status_json.ts';
import { basicUsersById } from '../users/json.ts';
import { newestPipeline, noSuchPipeline } from './external_pipeline.ts';
import { namedRef } from './named_ref.ts';
import { saveStatus, statusWords } from './status_write.ts';

/** A parameter that is there but empty is as none. */
const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

type StatusRef = { ref: string; tag: 0 | 1 };

/** null: it is unknown, or no branch has the commit. */
const refInCode = async (
  { repository }: Code,
  commit: string,
  ref: string | undefined,
): Promise<StatusRef | null> => {
  if (ref === undefined) {
    const { refs } = await repository.ask('commits.refs', { id: commit, type: 'branch' });
    const [first] = refs;
    return first === undefined ? null : { ref: first.name, tag: 0 };
  }
  const named = await namedRef(repository, ref);
  return named === null ? null : { ref: named.ref.name, tag: named.ref.type === 'tag' ? 1 : 0 };
};

type Asked = { ref: string | undefined; pipeline_id?: number | undefined; counts: boolean };

/**
 * Of which branch or tag is spoken; by default, of that of the newest pipeline, else of the first branch that has the
 * commit.
 * @throws Failure 404
 */
const refOf = async (
  { db }: Call,
  code: Code,
  commit: string,
  { ref, pipeline_id, counts }: Asked,
): Promise<StatusRef> => {
  const short = ref?.replace(/^refs\/(?:heads|tags)\//, '');
  const asked = { project_id: code.project.id, sha: commit, ref: short, pipeline_id };
  const pipeline = counts ? await newestPipeline(db, asked) : null;
  if (pipeline === null && pipeline_id !== undefined) throw noSuchPipeline();
  const found = pipeline ?? (await refInCode(code, commit, ref));
  if (found === null) throw notFound('References for commit');
  return { ref: found.ref, tag: found.tag };
};

const isAddress = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '');

/** Says how it stands with a commit elsewhere: `GET` of the same is the repository's. */
export const statusPost = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  summary: 'Say something about a commit',
  area: 'commit_statuses',
  audience: 'user',
  params: object({
    id: projectParam,
    sha: text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' }),
    state: oneOf(statusWords),
    ref: optional(
      text({
        description: 'branch or tag; default: of its newest pipeline, else the first branch that has it',
      }),
    ),
    name: optional(text({ description: 'default: `default`' })),
    context: optional(text({ description: 'another name of `name`' })),
    target_url: optional(text()),
    description: optional(text()),
    coverage: optional(decimal({ minimum: 0, maximum: 100 })),
    allow_failure: optional(boolean()),
    pipeline_id: optional(idParam('in which it counts; default: the newest of the commit and `ref`')),
  }),
  reply: statusShape,
  handle: async (call, { id, sha, state, ref, name, context, target_url, pipeline_id, ...said }) => {
    const code = await findCode(call, id, 'admin_commit_status');
    const { commit } = await requireRevision(code, sha);
    if (target_url !== undefined && target_url !== '' && !isAddress(target_url)) {
      throw invalid({ target_url: ['is blocked: Only allowed schemes are http, https'] });
    }
    const counts = code.project.builds_access_level !== 'disabled';
    const row = await saveStatus(call, {
      ...said,
      ...(await refOf(call, code, commit, { ref: given(ref), pipeline_id, counts })),
      pipeline_id,
      counts,
      target_url: target_url === '' ? null : target_url,
      project_id: code.project.id,
      sha: commit,
      name: [name, context].find((one) => one !== undefined && one !== '') ?? 'default',
      status: state,
    });
    const authors = await basicUsersById(call.db, [row.author_id]);
    const told = { ...row, of_job: 0 as const };
    return statusJson(told, { sha: commit, author: authors.get(row.author_id) }, statusPlace(call, code));
  },
});
