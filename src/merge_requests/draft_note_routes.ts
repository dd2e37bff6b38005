/** Drafts of comments on a merge request: each is for its author alone. */
import { endpoint } from '../access/call.ts';
import { badRequest } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import {
  bool,
  boolean,
  id,
  idOrPath,
  int,
  longText,
  nullable,
  object,
  optional,
  string,
  text,
} from '../http/schema.ts';
import { positionOf, positionShape } from '../notes/position.ts';
import { positionParam, readPosition } from '../discussions/position.ts';
import {
  type DraftNote,
  allDrafts,
  createDraft,
  findDraft,
  listDrafts,
  takeDraft,
  updateDraft,
} from './draft_notes.ts';
import { findReadable } from './find.ts';
import { publishAll, publishOne } from './publish_drafts.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/draft_notes';
const onePath = `${path}/:draft_note_id`;
const request = { id: idOrPath('project'), merge_request_iid: id('iid of the merge request') };
const one = { ...request, draft_note_id: id('id of the draft') };
const common = { area: 'draft_notes', audience: 'user' } as const;

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
  position: positionOf(draft.position),
  line_code: null,
});

const list = endpoint({
  ...common,
  method: 'GET',
  path,
  summary: 'Drafts of the caller on a merge request, the oldest first',
  list: true,
  params: object({ ...request, ...pageParams }),
  reply: shape,
  handle: async (call, { id: project, merge_request_iid, ...page }) => {
    const found = await findReadable(call, project, merge_request_iid);
    const { items, total } = await listDrafts(call, found, pageRequest(page));
    return { items: items.map(draftJson), total };
  },
});

const get = endpoint({
  ...common,
  method: 'GET',
  path: onePath,
  summary: 'One draft of the caller',
  params: object(one),
  reply: shape,
  handle: async (call, { id: project, merge_request_iid, draft_note_id }) =>
    draftJson(await findDraft(call, await findReadable(call, project, merge_request_iid), draft_note_id)),
});

const create = endpoint({
  ...common,
  method: 'POST',
  path,
  summary: 'Write a draft of a comment on a merge request',
  params: object({
    ...request,
    note: longText(),
    in_reply_to_discussion_id: optional(text({ description: 'the discussion that it answers' })),
    resolve_discussion: optional(boolean({ description: 'with its publication; by those who may' })),
    position: optional(positionParam),
  }),
  reply: shape,
  handle: async (call, { id: project, merge_request_iid, note, ...given }) => {
    const position = readPosition(given.position);
    const found = await findReadable(call, project, merge_request_iid);
    const { in_reply_to_discussion_id: answered, resolve_discussion = false } = given;
    const in_reply_to_discussion_id = answered === '' ? undefined : answered;
    const draft = { note, position, in_reply_to_discussion_id, resolve_discussion };
    return draftJson(await createDraft(call, found, draft));
  },
});

const update = endpoint({
  ...common,
  method: 'PUT',
  path: onePath,
  summary: 'Change a draft',
  params: object({ ...one, note: optional(longText()), position: optional(positionParam) }),
  reply: shape,
  handle: async (call, { id: project, merge_request_iid, draft_note_id, note, position: given }) => {
    const position = readPosition(given);
    if (note === undefined && position === null) {
      throw badRequest('at least one of note, position must be given');
    }
    const found = await findReadable(call, project, merge_request_iid);
    const draft = await findDraft(call, found, draft_note_id);
    return draftJson(await updateDraft(call, found, draft, { note, position }));
  },
});

const remove = endpoint({
  ...common,
  method: 'DELETE',
  path: onePath,
  summary: 'Delete a draft',
  params: object(one),
  reply: null,
  handle: async (call, { id: project, merge_request_iid, draft_note_id }) => {
    const found = await findReadable(call, project, merge_request_iid);
    const draft = await findDraft(call, found, draft_note_id);
    await call.write(async (tx) => await takeDraft(tx, draft));
  },
});

const publish = endpoint({
  ...common,
  method: 'PUT',
  path: `${onePath}/publish`,
  summary: 'Make a comment of a draft',
  status: 204,
  params: object(one),
  reply: null,
  handle: async (call, { id: project, merge_request_iid, draft_note_id }) => {
    const found = await findReadable(call, project, merge_request_iid);
    await publishOne(call, found, await findDraft(call, found, draft_note_id));
  },
});

const publishEach = endpoint({
  ...common,
  method: 'POST',
  path: `${path}/bulk_publish`,
  summary: 'Make comments of all drafts of the caller',
  status: 204,
  params: object(request),
  reply: null,
  handle: async (call, { id: project, merge_request_iid }) => {
    const found = await findReadable(call, project, merge_request_iid);
    await publishAll(call, found, await allDrafts(call, found));
  },
});

export const draftNoteRoutes = [list, get, create, update, remove, publish, publishEach];
