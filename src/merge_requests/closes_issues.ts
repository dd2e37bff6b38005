import { type Call, endpoint } from '../access/call.ts';
import type { JsonText } from '../http/endpoint.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../http/page.ts';
import { object, string } from '../http/schema.ts';
import { lazySerializer } from '../http/serializer.ts';
import { externalIssuesClosedBy } from '../integrations/external_issues.ts';
import { issueShape } from '../issues/json.ts';
import { issueVersions } from '../issues/seen.ts';
import { issueTexts } from '../issues/texts.ts';
import { closingIssues, closingText, seenBy } from './closing.ts';
import { type FoundMergeRequest, findReadable } from './find.ts';
import { requestParams, requestPath } from './params.ts';

const serializeExternal = lazySerializer(object({ id: string, title: string }));

/** The issues of these ids as lists show them, in this order. */
const textsOf = async (call: Call, ids: number[]): Promise<JsonText[]> => {
  if (ids.length === 0) return [];
  const byId = new Map((await issueVersions(call, ids)).map((row) => [row.id, row]));
  return await issueTexts(
    call,
    ids.flatMap((one) => byId.get(one) ?? []),
  );
};

/** Internal ones that the caller sees, then those of a tracker outside; none unless into the default branch. */
const closedIssues = async (
  call: Call,
  { merge_request, project }: FoundMergeRequest,
  { offset, limit }: PageRequest,
): Promise<Page<JsonText>> => {
  if (merge_request.target_branch !== project.default_branch) return { items: [], total: 0 };
  const named = await closingIssues(call.platform, call.db, { merge_request, project }, call.baseUrl);
  const seen = await seenBy(call.db, call.viewer, named);
  const text = await closingText(call.db, merge_request);
  const external = await externalIssuesClosedBy(call.db, project.id, text);
  const shown = seen.slice(offset, offset + limit).map((issue) => issue.id);
  const rest = external.slice(Math.max(0, offset - seen.length), Math.max(0, offset + limit - seen.length));
  return {
    items: [...(await textsOf(call, shown)), ...rest.map(serializeExternal)],
    total: seen.length + external.length,
  };
};

export const closesIssues = endpoint({
  method: 'GET',
  path: `${requestPath}/closes_issues`,
  summary: 'Issues that are closed when a merge request is merged',
  area: 'merge_requests',
  audience: 'user',
  list: true,
  params: object({ ...requestParams, ...pageParams }),
  reply: issueShape,
  handle: async (call, params) => {
    const found = await findReadable(call, params.id, params.merge_request_iid);
    return await closedIssues(call, found, pageRequest(params));
  },
});
