import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { boolean, id as idParam, object, optional, text } from '../../../platform/http/schema.ts';
import { basicUsersById } from '../../../identity/users/json.ts';
import { findCode, projectParam } from '../find_code.ts';
import { requireRevision } from '../refs/resolve.ts';
import { statusJson, toStatusContext, statusShape } from './json.ts';
import { listStatuses } from './list.ts';
import { omitEmpty } from '../../../platform/omit_empty.ts';

const area = 'commit_statuses';
const shaParam = text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' });

/** Lists statuses of a commit. Reporting one affects a pipeline: `ci/pipelines/statuses/status_report_route.ts`. */
export const statusList = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'List the statuses of a commit',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    sha: shaParam,
    ref: optional(text()),
    stage: optional(text({ description: '`external`: external statuses' })),
    name: optional(text()),
    pipeline_id: optional(idParam('only statuses of this pipeline')),
    all: boolean({
      default: false,
      description: 'include statuses replaced by a later status of the same name',
    }),
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
        ref: omitEmpty(ref),
        stage: omitEmpty(stage),
        name: omitEmpty(name),
        pipeline_id,
        all,
      },
      { ...pageRequest(params), withJobs: may(call.viewer, 'read_pipeline', code.project) },
    );
    const authors = await basicUsersById(
      call.db,
      items.flatMap(({ author_id }) => author_id ?? []),
    );
    const getAuthor = (author: number | null) => (author === null ? undefined : authors.get(author));
    const context = toStatusContext(call, code);
    return {
      items: items.map((row) => statusJson(row, { sha: commit, author: getAuthor(row.author_id) }, context)),
      total,
    };
  },
});
