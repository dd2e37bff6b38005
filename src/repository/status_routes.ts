import { endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, id as idParam, object, optional, text } from '../http/schema.ts';
import { basicUsersById } from '../users/json.ts';
import { findCode, projectParam } from './code.ts';
import { requireRevision } from './resolve.ts';
import { statusJson, statusPlace, statusShape } from './status_json.ts';
import { listStatuses } from './status_list.ts';

const area = 'commit_statuses';
const shaParam = text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' });

/** A parameter that is there but empty is as none. */
const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

/** Who says something: `pipelines/status_routes.ts`, for that counts in a pipeline. */
export const statusList = endpoint({
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
    pipeline_id: optional(idParam('what counts in this pipeline alone')),
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
    const place = statusPlace(call, code);
    return {
      items: items.map((row) => statusJson(row, { sha: commit, author: authorOf(row.author_id) }, place)),
      total,
    };
  },
});
