/** Comments and award emoji. */
import { toIndividualId } from '../../planning/discussions/discussion_id.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { isConfidentialRecord } from '../changes/confidential_records.ts';
import type { ProjectFacts } from '../changes/snapshots/snapshot.ts';
import { getActor, placeJson, userJson, getProjectUrl } from './shared_payload_parts.ts';
import { commitOrNull } from './commits.ts';
import type { Context, Payload } from './context.ts';
import { issueAttributes, mergeRequestAttributes, snippetAttributes } from './subjects.ts';

/** The issue, merge request or snippet of a comment. */
const subjectJson = async (context: Context, project: ProjectFacts): Promise<Payload> => {
  const { issue, merge_request, snippet } = context.snapshot.records;
  if (snippet !== undefined) return { snippet: snippetAttributes(context, snippet, project) };
  if (issue !== undefined) return { issue: issueAttributes(context, issue, project) };
  if (merge_request === undefined) return {};
  return { merge_request: await mergeRequestAttributes(context, merge_request, project) };
};

const subjectUrl = (subject: Payload): string => {
  const { issue, merge_request, snippet } = subject as { [kind: string]: { url: string } | undefined };
  return (issue ?? merge_request ?? snippet)?.url ?? '';
};

const parsePosition = (position: string | null): unknown => (position === null ? null : JSON.parse(position));

/** Attributes of a comment on an issue, a merge request or a snippet. */
const noteAttributes = (context: Context, url: string) => {
  const { note } = context.snapshot.records;
  if (note === undefined) return {};
  return {
    id: note.id,
    note: note.body,
    description: note.body,
    noteable_type: note.target_type,
    noteable_id: note.target_id,
    author_id: note.author_id,
    discussion_id: note.discussion_id ?? toIndividualId(note.id),
    type: note.type,
    position: parsePosition(note.position),
    original_position: parsePosition(note.original_position),
    line_code: null,
    commit_id: null,
    project_id: note.project_id,
    internal: note.internal === 1,
    resolved_at: formatTimeOrNull(note.resolved_at),
    system: note.system === 1,
    url: `${url}#note_${note.id}`,
    created_at: formatTime(note.created_at),
    updated_at: formatTime(note.updated_at),
  };
};

const commentAttributes = (context: Context, project: ProjectFacts) => {
  const { commit_comment: comment } = context.snapshot.records;
  if (comment === undefined) return {};
  return {
    id: comment.id,
    note: comment.note,
    description: comment.note,
    noteable_type: 'Commit',
    noteable_id: null,
    author_id: comment.author_id,
    discussion_id: comment.discussion_id ?? toIndividualId(comment.id, 'commit comment'),
    type: comment.position === null ? null : 'DiffNote',
    position: parsePosition(comment.position),
    original_position: parsePosition(comment.position),
    line_code: null,
    commit_id: comment.sha,
    project_id: comment.project_id,
    internal: false,
    resolved_at: null,
    system: false,
    url: `${getProjectUrl(context, project)}/-/commit/${comment.sha}#note_${comment.id}`,
    created_at: formatTime(comment.created_at),
    updated_at: formatTime(comment.updated_at ?? comment.created_at),
  };
};

const getAction = (kind: string): string => (kind.endsWith('.created') ? 'create' : 'update');

export const notePayload = async (context: Context): Promise<Payload> => {
  const { project, records, kind } = context.snapshot;
  if (project === null) return {};
  const subject = await subjectJson(context, project);
  const { commit_comment: comment } = records;
  const attributes =
    comment === undefined
      ? noteAttributes(context, subjectUrl(subject))
      : commentAttributes(context, project);
  return {
    object_kind: 'note',
    event_type: isConfidentialRecord(records) ? 'confidential_note' : 'note',
    user: userJson(context, getActor(context)),
    project_id: project.id,
    ...placeJson(context),
    object_attributes: { ...attributes, action: getAction(kind) },
    ...subject,
    ...(comment !== undefined && { commit: await commitOrNull(context, project, comment.sha) }),
  };
};

export const emojiPayload = async (context: Context): Promise<Payload> => {
  const { project, records, kind } = context.snapshot;
  const { award } = records;
  if (project === null || award === undefined) return {};
  const subject = await subjectJson(context, project);
  const url = subjectUrl(subject);
  const event = kind.endsWith('.created') ? 'award' : 'revoke';
  return {
    object_kind: 'emoji',
    event_type: event,
    user: userJson(context, getActor(context)),
    project_id: project.id,
    ...placeJson(context),
    object_attributes: {
      id: award.id,
      user_id: award.user_id,
      name: award.name,
      awardable_type: award.awardable_type,
      awardable_id: award.awardable_id,
      created_at: formatTime(award.created_at),
      updated_at: formatTime(award.created_at),
      action: event,
      awarded_on_url: records.note === undefined ? url : `${url}#note_${records.note.id}`,
    },
    ...(records.note !== undefined && { note: noteAttributes(context, url) }),
    ...subject,
  };
};
