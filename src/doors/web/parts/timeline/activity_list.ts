/** A list of what users did, as activity pages and profiles show it. */
import type { EventJson } from '../../../events/json.ts';
import { avatar } from '../avatar.ts';
import { emptyState } from '../empty_state.ts';
import { type Html, html } from '../html.ts';
import { relativeTo } from '../timestamp.ts';
import { shortenMarkdown } from '../shorten_text.ts';

/** An event, and the full path of its project. */
export type ShownEvent = { event: EventJson; project_path: string };

const nouns: { [type: string]: string } = {
  Issue: 'issue',
  MergeRequest: 'merge request',
  Snippet: 'snippet',
  Milestone: 'milestone',
  Commit: 'commit',
};

const marks: { [type: string]: string } = { Issue: '#', MergeRequest: '!', Snippet: '$', Milestone: '%' };

const segments: { [type: string]: string } = {
  Issue: 'issues',
  MergeRequest: 'merge_requests',
  Snippet: 'snippets',
  Milestone: '-/milestones',
};

const recordLink = (path: string, type: string, { iid, title, anchor = '' }: Linked): Html => {
  if (iid === null) return html`${nouns[type] ?? type} ${title ?? ''}`;
  return html`${nouns[type]} <a class="title" href="/${path}/${segments[type]}/${iid}${anchor}">${marks[type]}${iid} ${title ?? ''}</a>`;
};

type Linked = { iid: number | null; title: string | null; anchor?: string };

const encodeRef = (ref: string): string => ref.split('/').map(encodeURIComponent).join('/');

type Push = NonNullable<EventJson['push_data']>;

const refLink = (path: string, { action, ref_type, ref }: Push): Html =>
  action === 'removed'
    ? html`<code>${ref}</code>`
    : html`<a class="title" href="/${path}/-/${ref_type === 'tag' ? 'tags' : 'commits'}/${encodeRef(ref)}">${ref}</a>`;

const pushVerbs = { created: 'created', removed: 'deleted', pushed: 'pushed to' };

const pushText = (path: string, push: Push): Html => {
  const verb = pushVerbs[push.action];
  const { commit_count, commit_title, commit_to } = push;
  const counted = commit_count > 1 && html` <span class="muted">${commit_count} commits</span>`;
  return html`${verb} ${push.ref_type} ${refLink(path, push)}${counted}${
    commit_title !== null &&
    html`<span class="meta"><a href="/${path}/-/commit/${commit_to}">${commit_title}</a></span>`
  }`;
};

type Note = NonNullable<EventJson['note']>;

const noteText = (path: string, note: Note, title: string | null): Html => {
  const anchor = `#note_${note.id}`;
  const sha = 'commit_id' in note && note.noteable_type === 'Commit' ? note.commit_id : null;
  const target =
    typeof sha === 'string'
      ? html`commit <a class="title" href="/${path}/-/commit/${sha}${anchor}">${sha.slice(0, 8)}</a>`
      : recordLink(path, note.noteable_type, { iid: note.noteable_iid ?? note.noteable_id, title, anchor });
  return html`commented on ${target}<span class="meta"><span class="clamp">${shortenMarkdown(note.body)}</span></span>`;
};

const verbs: { [name: string]: string } = {
  accepted: 'merged',
  joined: 'joined',
  left: 'left',
  'removed due to membership expiration from': 'reached the end of their membership in',
  created: 'created',
};

const doneText = ({ event, project_path: path }: ShownEvent): Html => {
  const { action_name, push_data, note, target_type, target_iid: iid, target_title: title } = event;
  if (push_data !== undefined) return pushText(path, push_data);
  if (note !== undefined) return noteText(path, note, title);
  const verb = verbs[action_name] ?? action_name;
  return target_type === null
    ? html`${verb} the project`
    : html`${verb} ${recordLink(path, target_type, { iid, title })}`;
};

const recordText = (type: string, { iid, title }: Linked): string =>
  `${nouns[type] ?? type} ${iid === null ? '' : `${marks[type] ?? ''}${iid} `}${title ?? ''}`.trim();

/** Returns what was done as plain text: `opened issue #1 Leak`. */
export const eventText = ({ event }: ShownEvent): string => {
  const { action_name, push_data: push, note, target_type, target_iid: iid, target_title: title } = event;
  if (push !== undefined) return `${pushVerbs[push.action]} ${push.ref_type} ${push.ref}`;
  if (note !== undefined) {
    const noteable = { iid: note.noteable_iid ?? note.noteable_id ?? null, title };
    return `commented on ${recordText(note.noteable_type, noteable)}`;
  }
  const verb = verbs[action_name] ?? action_name;
  return target_type === null ? `${verb} the project` : `${verb} ${recordText(target_type, { iid, title })}`;
};

const recordPath = (path: string, type: string, iid: number | null): string =>
  iid === null || segments[type] === undefined ? `/${path}` : `/${path}/${segments[type]}/${iid}`;

/** Returns the path of the page of an event: of its record, its commits or its project. */
export const eventPath = ({ event, project_path: path }: ShownEvent): string => {
  const { push_data: push, note, target_type, target_iid } = event;
  if (push !== undefined)
    return push.action === 'removed'
      ? `/${path}`
      : `/${path}/-/${push.ref_type === 'tag' ? 'tags' : 'commits'}/${encodeRef(push.ref)}`;
  if (note === undefined)
    return target_type === null ? `/${path}` : recordPath(path, target_type, target_iid);
  const anchor = `#note_${note.id}`;
  if ('commit_id' in note && note.noteable_type === 'Commit')
    return `/${path}/-/commit/${note.commit_id}${anchor}`;
  return recordPath(path, note.noteable_type, note.noteable_iid ?? note.noteable_id ?? null) + anchor;
};

const item = (shown: ShownEvent, hasProject: boolean): Html => {
  const { event, project_path } = shown;
  const { author, created_at } = event;
  return html`<li><span class="lead">${avatar({ name: author.name, avatar_url: author.avatar_url, size: 'medium' })}</span>
<span><a class="author" href="/${author.username}">${author.name}</a> ${doneText(shown)}
<span class="meta">${hasProject && html`<a href="/${project_path}">${project_path}</a> · `}${relativeTo(created_at)}</span></span></li>
`;
};

/** Renders a list of events. @param hasProject whether each names its project */
export const activityList = (events: readonly ShownEvent[], { hasProject }: { hasProject: boolean }): Html =>
  events.length === 0
    ? emptyState({ icon: 'history', title: 'No activity to show' })
    : html`<ul class="list activity">${events.map((shown) => item(shown, hasProject))}</ul>`;
