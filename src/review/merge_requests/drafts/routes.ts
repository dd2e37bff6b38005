/** Routes for draft comments on merge requests. Only their author can see them. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { nothingToChange } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  bool,
  boolean,
  id,
  int,
  longText,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
} from '../../../platform/http/schema.ts';
import { parsePosition, positionShape } from '../../../planning/notes/position.ts';
import { positionParam, readPosition } from '../../../planning/discussions/position_param.ts';
import {
  type DraftNote,
  allDrafts,
  createDraft,
  findDraft,
  listDrafts,
  deleteDraft,
  updateDraft,
} from './draft_notes.ts';
import { findReadable } from '../find.ts';
import { requestParams, requestPath } from '../params.ts';
import { publishAll, publishOne } from './publish.ts';
import { submitReview } from './submit_review.ts';
import { omitEmpty } from '../../../platform/omit_empty.ts';

const path = `${requestPath}/draft_notes`;
const onePath = `${path}/:draft_note_id`;
const draftParams = { ...requestParams, draft_note_id: id('id of the draft') };
const shared = { area: 'draft_notes', audience: 'user' } as const;

const shape = object({
  id: int,
  author_id: int,
  merge_request_id: int,
  resolve_discussion: bool,
  discussion_id: nullable(string),
  note: string,
  commit_id: nullable(string),
  position: nullable(positionShape),
  line_code: nullable(string),
});

const draftJson = (draft: DraftNote) => ({
  id: draft.id,
  author_id: draft.author_id,
  merge_request_id: draft.merge_request_id,
  resolve_discussion: draft.resolve_discussion === 1,
  discussion_id: draft.discussion_id,
  note: draft.note,
  commit_id: null,
  position: parsePosition(draft.position),
  line_code: null,
});

type OfRequest = { id: number | string; merge_request_iid: number };

const find = async (call: Call, input: OfRequest) =>
  await findReadable(call, input.id, input.merge_request_iid);

const findOne = async (call: Call, input: OfRequest & { draft_note_id: number }) => {
  const loaded = await find(call, input);
  return { loaded, draft: await findDraft(call, loaded, input.draft_note_id) };
};

const list = endpoint({
  ...shared,
  method: 'GET',
  path,
  summary: 'List your draft comments on a merge request, oldest first',
  list: true,
  params: object({ ...requestParams, ...pageParams }),
  reply: shape,
  handle: async (call, params) => {
    const { items, total } = await listDrafts(call, await find(call, params), pageRequest(params));
    return { items: items.map(draftJson), total };
  },
});

const get = endpoint({
  ...shared,
  method: 'GET',
  path: onePath,
  summary: 'Get one of your draft comments',
  params: object(draftParams),
  reply: shape,
  handle: async (call, params) => draftJson((await findOne(call, params)).draft),
});

const create = endpoint({
  ...shared,
  method: 'POST',
  path,
  summary: 'Create a draft comment',
  params: object({
    ...requestParams,
    note: longText(),
    in_reply_to_discussion_id: optional(text({ description: 'discussion to reply to' })),
    resolve_discussion: optional(
      boolean({ description: 'resolve the thread on publication, if the author may' }),
    ),
    position: optional(positionParam),
  }),
  reply: shape,
  handle: async (call, params) => {
    const position = readPosition(params.position);
    const { note, in_reply_to_discussion_id: answered, resolve_discussion = false } = params;
    const in_reply_to_discussion_id = omitEmpty(answered);
    const draft = { note, position, in_reply_to_discussion_id, resolve_discussion };
    return draftJson(await createDraft(call, await find(call, params), draft));
  },
});

const update = endpoint({
  ...shared,
  method: 'PUT',
  path: onePath,
  summary: 'Update a draft comment',
  params: object({ ...draftParams, note: optional(longText()), position: optional(positionParam) }),
  reply: shape,
  handle: async (call, { note, ...params }) => {
    const position = readPosition(params.position);
    if (note === undefined && position === null) {
      throw nothingToChange(['note', 'position']);
    }
    const { loaded, draft } = await findOne(call, params);
    return draftJson(await updateDraft(call, loaded, draft, { note, position }));
  },
});

const remove = endpoint({
  ...shared,
  method: 'DELETE',
  path: onePath,
  summary: 'Delete a draft comment',
  params: object(draftParams),
  reply: null,
  handle: async (call, params) => {
    const { draft } = await findOne(call, params);
    await call.write(async (tx) => await deleteDraft(tx, draft));
  },
});

const publish = endpoint({
  ...shared,
  method: 'PUT',
  path: `${onePath}/publish`,
  summary: 'Publish a draft comment',
  status: 204,
  params: object(draftParams),
  reply: null,
  handle: async (call, params) => {
    const { loaded, draft } = await findOne(call, params);
    await publishOne(call, loaded, draft);
  },
});

const verdictsByState = {
  reviewed: 'comment',
  requested_changes: 'request_changes',
  approved: 'approve',
} as const;

const publishEach = endpoint({
  ...shared,
  method: 'POST',
  path: `${path}/bulk_publish`,
  summary: 'Publish all your draft comments as a review',
  status: 204,
  params: object({
    ...requestParams,
    note: optional(longText('a comment on the merge request as a whole')),
    reviewer_state: optional(
      oneOf(['reviewed', 'requested_changes', 'approved'], {
        description: 'review state of the caller after publication',
      }),
    ),
  }),
  reply: null,
  handle: async (call, params) => {
    const loaded = await find(call, params);
    const { note: summary = '', reviewer_state: state } = params;
    if (summary === '' && state === undefined) {
      await publishAll(call, loaded, await allDrafts(call, loaded));
      return;
    }
    const verdict = verdictsByState[state ?? 'reviewed'];
    await submitReview(call, loaded, { summary, verdict, sha: loaded.merge_request.head_sha ?? '' });
  },
});

export const draftNoteRoutes = [list, get, create, update, remove, publish, publishEach];
