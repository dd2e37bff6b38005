/** Routes for the commits, changes, versions and participants of merge requests. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden } from '../../../platform/errors.ts';
import { Answer, type JsonText } from '../../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { array, bool, id, idOrPath, object, text } from '../../../platform/http/schema.ts';
import { lazySerializer } from '../../../platform/http/serializer.ts';
import { listParticipants } from '../../../planning/issuables/participants.ts';
import { findCode } from '../../../code/repository/find_code.ts';
import { diffShape } from '../../../code/repository/commits/diff_json.ts';
import { requireRevision } from '../../../code/repository/refs/resolve.ts';
import { basicUserShape } from '../../../identity/users/json.ts';
import { listChanges, listCommits, rawDiff, withChanges, withVersionTexts } from './serve_changes.ts';
import { findReadable } from '../find.ts';
import { mergeRequestShape, singleMergeRequestFields } from '../json.ts';
import { listOfCommit } from '../commit_merge_requests.ts';
import { requestParams, requestPath } from '../params.ts';
import { showWithVersion } from '../show.ts';
import { singleVersionShape, versionCommitShape, versionJson, versionShape } from './json.ts';
import { findVersion, listVersions } from './queries.ts';

const shared = { method: 'GET', area: 'merge_requests', audience: 'user' } as const;
const sharedList = { ...shared, list: true, params: object({ ...requestParams, ...pageParams }) } as const;

type Named = { id: number | string; merge_request_iid: number };

const find = async (call: Call, params: Named) =>
  await findReadable(call, params.id, params.merge_request_iid);

export const commitsRoute = endpoint({
  ...sharedList,
  path: `${requestPath}/commits`,
  summary: 'List commits of a merge request, newest first',
  reply: versionCommitShape,
  handle: async (call, params) => await listCommits(call, await find(call, params), pageRequest(params)),
});

export const changesRoute = endpoint({
  ...shared,
  path: `${requestPath}/changes`,
  summary: 'Get a merge request with all its changes',
  params: object(requestParams),
  reply: object({ ...singleMergeRequestFields, changes: array(diffShape), overflow: bool }),
  handle: async (call, params): Promise<JsonText> => {
    const { text, ...loaded } = await showWithVersion(call, params.id, params.merge_request_iid);
    return await withChanges(call, loaded, text);
  },
});

const diffs = endpoint({
  ...sharedList,
  path: `${requestPath}/diffs`,
  summary: 'List changed files of a merge request',
  reply: diffShape,
  handle: async (call, params) => await listChanges(call, await find(call, params), pageRequest(params)),
});

const rawDiffs = endpoint({
  ...shared,
  path: `${requestPath}/raw_diffs`,
  summary: 'Get the raw diff of a merge request',
  params: object(requestParams),
  reply: null,
  content: 'text/plain',
  handle: async (call, params) =>
    new Answer(await rawDiff(call, await find(call, params)), {
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    }),
});

export const versionsRoute = endpoint({
  ...sharedList,
  path: `${requestPath}/versions`,
  summary: 'List diff versions of a merge request, newest first',
  reply: versionShape,
  handle: async (call, params) => {
    const { merge_request } = await find(call, params);
    const { items, total } = await listVersions(call.db, merge_request.id, pageRequest(params));
    return { items: items.map(versionJson), total };
  },
});

const serializeVersion = lazySerializer(versionShape);

export const versionRoute = endpoint({
  ...shared,
  path: `${requestPath}/versions/:version_id`,
  summary: 'Get a diff version with its commits and changes',
  params: object({ ...requestParams, version_id: id() }),
  reply: singleVersionShape,
  handle: async (call, params): Promise<JsonText> => {
    const { merge_request } = await find(call, params);
    const version = await findVersion(call.db, merge_request.id, params.version_id);
    return await withVersionTexts(call, version, serializeVersion(versionJson(version)));
  },
});

const participants = endpoint({
  ...sharedList,
  path: `${requestPath}/participants`,
  summary: 'List the participants of a merge request',
  reply: basicUserShape,
  handle: async (call, params) => await listParticipants(call, await find(call, params), pageRequest(params)),
});

const ofCommit = endpoint({
  ...shared,
  list: true,
  path: '/projects/:id/repository/commits/:sha/merge_requests',
  summary: 'List merge requests that contain a commit',
  params: object({
    id: idOrPath('project'),
    sha: text({ maxLength: 1000, description: 'id of a commit, or a branch or tag' }),
    ...pageParams,
  }),
  reply: mergeRequestShape,
  handle: async (call, params) => {
    const code = await findCode(call, params.id);
    if (!may(call.viewer, 'read_merge_request', code.project)) throw forbidden();
    const { commit } = await requireRevision(code, params.sha);
    return await listOfCommit(call, code.project, commit, pageRequest(params));
  },
});

/** Routes that the API document does not describe. */
export const moreVersionRoutes = [diffs, rawDiffs, participants, ofCommit];
