import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../../../platform/http/page.ts';
import { object, string } from '../../../platform/http/schema.ts';
import { lazySerializer } from '../../../platform/http/serializer.ts';
import { externalIssuesClosedBy } from '../../../planning/integrations/external_issues.ts';
import { issueShape } from '../../../planning/issues/json.ts';
import { issueVersions } from '../../../planning/issues/viewer_fields.ts';
import { issueTexts } from '../../../planning/issues/lists/json_cache.ts';
import { loadClosingIssues, closingText, filterVisible } from './closing_references.ts';
import { type LoadedMergeRequest, findReadable } from '../find.ts';
import { requestParams, requestPath } from '../params.ts';

const serializeExternal = lazySerializer(object({ id: string, title: string }));

/** Loads the JSON of these issues as lists show it, in the order of the ids. */
export const loadIssueTexts = async (call: Call, ids: number[]): Promise<JsonText[]> => {
  if (ids.length === 0) return [];
  const byId = new Map((await issueVersions(call, ids)).map((row) => [row.id, row]));
  return await issueTexts(
    call,
    ids.flatMap((one) => byId.get(one) ?? []),
  );
};

/**
 * Lists the issues closed by a request: visible issues first, then issues of an external tracker. Empty unless the
 * request targets the default branch.
 */
export const listClosedIssues = async (
  call: Call,
  { merge_request, project }: LoadedMergeRequest,
  { offset, limit }: PageRequest,
): Promise<Page<JsonText>> => {
  if (merge_request.target_branch !== project.default_branch) return { items: [], total: 0 };
  const named = await loadClosingIssues(call.platform, call.db, { merge_request, project }, call.baseUrl);
  const seen = await filterVisible(call.db, call.viewer, named);
  const text = await closingText(call.db, merge_request);
  const external = await externalIssuesClosedBy(call.db, project.id, text);
  const shown = seen.slice(offset, offset + limit).map((issue) => issue.id);
  const shownExternal = external.slice(
    Math.max(0, offset - seen.length),
    Math.max(0, offset + limit - seen.length),
  );
  return {
    items: [...(await loadIssueTexts(call, shown)), ...shownExternal.map(serializeExternal)],
    total: seen.length + external.length,
  };
};

export const closesIssues = endpoint({
  method: 'GET',
  path: `${requestPath}/closes_issues`,
  summary: 'List issues that a merge request closes',
  area: 'merge_requests',
  audience: 'user',
  list: true,
  params: object({ ...requestParams, ...pageParams }),
  reply: issueShape,
  handle: async (call, params) => {
    const loaded = await findReadable(call, params.id, params.merge_request_iid);
    return await listClosedIssues(call, loaded, pageRequest(params));
  },
});
