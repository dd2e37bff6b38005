/** Describes payloads in a sentence and a few lines, for messages in a chat. Pure. */
import { capitalize } from '../../../platform/unicode.ts';

/** Text, or text that links. */
export type Part = string | { text: string; url: string };

export type Message = {
  title: Part[];
  lines: Part[][];
  mood: 'good' | 'bad' | 'neutral';
};

// oxlint-disable-next-line typescript/no-explicit-any -- payloads have many shapes; missing parts become empty texts
type Payload = any;

const maxCommits = 5;
const maxText = 300;

const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

const link = (text: unknown, url: unknown): Part =>
  typeof url === 'string' && url !== '' ? { text: toText(text), url } : toText(text);

/** The start of a text, in one line. */
const shorten = (text: unknown): string => {
  const line = toText(text).trim().replaceAll(/\s+/g, ' ');
  return line.length > maxText ? `${line.slice(0, maxText - 1)}…` : line;
};

const getActorName = ({ user, user_name }: Payload): string => user?.name ?? user_name ?? 'Somebody';

const getPlaceParts = ({ project }: Payload): Part[] =>
  project === undefined ? [] : [' in ', link(project.path_with_namespace, project.web_url)];

const message = (title: Part[], lines: Part[][] = [], mood: Message['mood'] = 'neutral'): Message => ({
  title,
  lines,
  mood,
});

const isZero = (oid: unknown): boolean => /^0+$/.test(String(oid));

const pushVerb = ({ before, after }: Payload): string => {
  if (isZero(after)) return 'deleted';
  return isZero(before) ? 'created' : 'pushed to';
};

const describePush = (payload: Payload): Message => {
  const { ref, after, commits = [], total_commits_count: total = 0, project } = payload;
  const name = String(ref).replace(/^refs\/(?:heads|tags)\//, '');
  const noun = payload.object_kind === 'push' ? 'branch' : 'tag';
  const shown = isZero(after)
    ? name
    : link(name, `${project?.web_url}/-/commits/${name.split('/').map(encodeURIComponent).join('/')}`);
  const count = total === 1 ? ' (1 commit)' : ` (${total} commits)`;
  const lines = (commits as Payload[])
    .slice(-maxCommits)
    .map(({ id, url, title }): Part[] => [link(String(id).slice(0, 8), url), ` ${shorten(title)}`]);
  const title = [getActorName(payload), ` ${pushVerb(payload)} ${noun} `, shown, ...getPlaceParts(payload)];
  return message([...title, ...(total > 0 ? [count] : [])], lines);
};

const verbs: Record<string, string> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  update: 'updated',
  merge: 'merged',
  approved: 'approved',
  unapproved: 'withdrew the approval of',
  create: 'created',
  delete: 'deleted',
};

const getVerb = (action: unknown): string => verbs[String(action)] ?? 'changed';

const describeIssue = (payload: Payload): Message => {
  const { iid, title, url, action, description, confidential } = payload.object_attributes;
  const noun = confidential === true ? 'confidential issue' : 'issue';
  const subject = link(`#${iid} ${title}`, url);
  const lines = action === 'open' && shorten(description) !== '' ? [[shorten(description)]] : [];
  return message(
    [getActorName(payload), ` ${getVerb(action)} ${noun} `, subject, ...getPlaceParts(payload)],
    lines,
  );
};

const describeRequest = (payload: Payload): Message => {
  const { iid, title, url, action, source_branch, target_branch } = payload.object_attributes;
  const subject = link(`!${iid} ${title}`, url);
  const lines = action === 'open' ? [[`${source_branch} into ${target_branch}`]] : [];
  const mood = action === 'merge' || action === 'approved' ? 'good' : 'neutral';
  return message(
    [getActorName(payload), ` ${getVerb(action)} merge request `, subject, ...getPlaceParts(payload)],
    lines,
    mood,
  );
};

const describeSubject = ({ issue, merge_request, snippet, commit }: Payload): string => {
  if (issue !== undefined) return `issue #${issue.iid} ${issue.title}`;
  if (merge_request !== undefined) return `merge request !${merge_request.iid} ${merge_request.title}`;
  if (snippet !== undefined) return `snippet $${snippet.id} ${snippet.title}`;
  return commit === undefined ? 'a record' : `commit ${String(commit?.id).slice(0, 8)}`;
};

const describeNote = (payload: Payload): Message => {
  const { url, note } = payload.object_attributes;
  const subject = link(describeSubject(payload), url);
  return message(
    [getActorName(payload), ' commented on ', subject, ...getPlaceParts(payload)],
    [[shorten(note)]],
  );
};

const describeEmoji = (payload: Payload): Message => {
  const { name, awarded_on_url, action } = payload.object_attributes;
  const verb = action === 'award' ? 'reacted with' : 'took back';
  const subject = link(describeSubject(payload), awarded_on_url);
  return message([getActorName(payload), ` ${verb} :${name}: on `, subject, ...getPlaceParts(payload)]);
};

const getMood = (status: unknown): Message['mood'] => {
  if (status === 'success') return 'good';
  return status === 'failed' ? 'bad' : 'neutral';
};

const describePipeline = (payload: Payload): Message => {
  const { id, ref, status, url } = payload.object_attributes;
  const failed = ((payload.builds ?? []) as Payload[]).filter((job) => job.status === 'failed');
  const lines = failed.length === 0 ? [] : [[`Failed: ${failed.map(({ name }) => name).join(', ')}`]];
  const title = [link(`Pipeline #${id}`, url), ` of ${ref}`, ...getPlaceParts(payload), `: ${status}`];
  return message(title, lines, getMood(status));
};

const describeJob = (payload: Payload): Message => {
  const { build_id, build_name, build_status, ref, project } = payload;
  const job = link(`Job ${build_name}`, `${project?.web_url}/-/jobs/${build_id}`);
  return message(
    [job, ` of ${ref}`, ...getPlaceParts(payload), `: ${build_status}`],
    [],
    getMood(build_status),
  );
};

const describeDeployment = (payload: Payload): Message => {
  const { environment, status, deployable_url, commit_title } = payload;
  const title = [
    'Deployment to ',
    link(environment, deployable_url),
    ...getPlaceParts(payload),
    `: ${status}`,
  ];
  return message(title, [[shorten(commit_title)]], getMood(status));
};

const describeRelease = (payload: Payload): Message => {
  const { action, name, url, description } = payload;
  const lines = action === 'create' && shorten(description) !== '' ? [[shorten(description)]] : [];
  return message([`Release `, link(name, url), ` ${getVerb(action)}`, ...getPlaceParts(payload)], lines);
};

/** Members, users, groups, projects and keys: the event, and whom it is about. */
const describeOther = (payload: Payload): Message => {
  const { event_name, user_username, username, project_path_with_namespace, path_with_namespace } = payload;
  const event = String(event_name ?? payload.object_kind ?? 'change').replaceAll('_', ' ');
  const about = [
    user_username ?? username,
    project_path_with_namespace ?? path_with_namespace ?? payload.group_full_path ?? payload.full_path,
  ].filter((one) => typeof one === 'string' && one !== '');
  const sentence = capitalize(event);
  return message([
    about.length === 0 ? sentence : `${sentence}: ${about.join(', ')}`,
    ...getPlaceParts(payload),
  ]);
};

const describers: Record<string, (payload: Payload) => Message> = {
  push: describePush,
  tag_push: describePush,
  issue: describeIssue,
  merge_request: describeRequest,
  note: describeNote,
  emoji: describeEmoji,
  pipeline: describePipeline,
  build: describeJob,
  deployment: describeDeployment,
  release: describeRelease,
};

export const describePayload = (payload: unknown): Message => {
  const { object_kind } = payload as { object_kind?: string };
  const isKnown = object_kind !== undefined && Object.hasOwn(describers, object_kind);
  return (isKnown ? (describers[object_kind] ?? describeOther) : describeOther)(payload);
};
