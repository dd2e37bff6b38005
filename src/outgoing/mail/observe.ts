/**
 * Chooses the changes that users get mail about, at the end of their transaction, and enqueues the work that finds the
 * recipients. Started only if a mail server is configured.
 */
import { type RecordedChange, changesTopic } from '../../core/events/record_event.ts';
import { enqueueMails, isMailOn } from '../../core/mail/enqueue_mails.ts';
import type { Platform } from '../../core/platform.ts';
import { accountMailKinds } from '../../identity/account_mails/links.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';
import type { MailTargetType } from '../../platform/db/schema/mail.ts';
import { enqueueAll } from '../../platform/queue/enqueue.ts';
import { findMentionedNames } from '../../planning/issuables/text/mentions.ts';
import { loadNamedUserIds } from '../../planning/issuables/text/store_mentions.ts';

/** Background work that finds the recipients of a change. */
export const notifyWork = 'mail.notify';

/** A change that users may get mail about, as the payload of its work. Lists of ids are texts: `1,2`. */
export type MailCause = {
  event_key: string;
  kind: string;
  actor_id: number | null;
  project_id: number;
  target_type: MailTargetType;
  target_id: number;
  note_id: number | null;
  /** Users whom the change assigned, asked for a review or mentioned, of an edit; others are read from the record. */
  assigned: string;
  requested: string;
  mentioned: string;
};

/** Users of one change who are named in its work. */
const maxNamed = 200;

type Pair<T> = [T, T];
type Edit = {
  title?: Pair<string>;
  assignee_ids?: Pair<number[]>;
  reviewer_ids?: Pair<number[]>;
  /** Reviewers who had reviewed and are asked again. */
  reviews_requested_again?: { user_id: number }[];
  merge_when_pipeline_succeeds?: Pair<boolean>;
};

/** @param more further ids */
const addedIds = (pair: Pair<number[]> | undefined, more: readonly number[] = []): string => {
  const [before, after] = pair ?? [[], []];
  return [...after.filter((id) => !before.includes(id)), ...more].slice(0, maxNamed).join(',');
};

/** Ids of users with these names, as the payload of the work has them. */
const listNamedIds = async (tx: Tx, actorId: number | null, names: readonly string[]): Promise<string> => {
  if (names.length === 0 || actorId === null) return '';
  const lower = [...new Set(names.map((name) => name.toLowerCase()))];
  const ids = await loadNamedUserIds(tx, actorId, lower);
  return [...new Set([...ids.values()].flat())].slice(0, maxNamed).join(',');
};

/** Users whom an edited title or description mentions and did not mention before. */
const newlyMentioned = async (tx: Tx, { actor_id, data = {}, transient = {} }: RecordedChange) => {
  const { title } = data as Edit;
  const { description } = transient as { description?: Pair<string | null> };
  const texts = [title, description].filter((pair) => pair !== undefined);
  const before = new Set(texts.flatMap(([text]) => findMentionedNames(text ?? '')));
  const names = texts
    .flatMap(([, text]) => findMentionedNames(text ?? ''))
    .filter((name) => !before.has(name));
  return await listNamedIds(tx, actor_id, names);
};

/** Users whom a comment on a commit mentions. */
const mentionedOnCommit = async (tx: Tx, { target_id, actor_id }: RecordedChange): Promise<string> => {
  const query = tx.db.selectFrom('commit_comments').select('note').where('id', '=', target_id);
  const comment = await query.executeTakeFirst();
  return await listNamedIds(tx, actor_id, findMentionedNames(comment?.note ?? ''));
};

export const nothingAdded = { note_id: null, assigned: '', requested: '', mentioned: '' };

const causeOfEdit = async (tx: Tx, change: RecordedChange, shared: MailCause): Promise<MailCause[]> => {
  const {
    assignee_ids,
    reviewer_ids,
    reviews_requested_again = [],
    merge_when_pipeline_succeeds,
  } = (change.data ?? {}) as Edit;
  if (merge_when_pipeline_succeeds?.[1] === true) return [{ ...shared, kind: 'merge_request.auto_merge' }];
  const added = {
    assigned: addedIds(assignee_ids),
    requested: addedIds(
      reviewer_ids,
      reviews_requested_again.map(({ user_id }) => user_id),
    ),
    mentioned: await newlyMentioned(tx, change),
  };
  const isMailed = shared.kind.endsWith('.updated')
    ? Object.values(added).some((ids) => ids !== '')
    : /\.(?:created|closed|reopened|merged|pushed)$/.test(shared.kind);
  return isMailed ? [{ ...shared, ...added }] : [];
};

/** Returns whether a new release is recorded after the fact: its date lies before its creation. */
const isHistorical = ({ transient = {} }: RecordedChange): boolean => {
  const { release } = transient as { release: { created_at: number; released_at: number } };
  return release.released_at < release.created_at;
};

/** Returns whether a change gives a project another address: another namespace or another path. */
const movesProject = ({ kind, data = {} }: RecordedChange): boolean =>
  kind === 'project.transferred' || (kind === 'project.updated' && 'path' in data);

const listCauses = async (tx: Tx, change: RecordedChange): Promise<MailCause[]> => {
  const { kind, project_id, target_type, target_id, actor_id, event_id } = change;
  if (project_id === null || event_id === null) return [];
  const shared = { ...nothingAdded, event_key: `event-${event_id}`, kind, actor_id, project_id };
  if (kind === 'note.created') {
    const { noteable_type, noteable_id } = change.data as {
      noteable_type: NoteableType;
      noteable_id: number;
    };
    return [{ ...shared, target_type: noteable_type, target_id: noteable_id, note_id: target_id }];
  }
  if (kind === 'commit_comment.created') {
    const mentioned = await mentionedOnCommit(tx, change);
    return [{ ...shared, target_type: 'CommitComment', target_id, mentioned }];
  }
  if (kind === 'release.created')
    return isHistorical(change) ? [] : [{ ...shared, target_type: 'Release', target_id }];
  if (movesProject(change)) return [{ ...shared, kind: 'project.moved', target_type: 'Project', target_id }];
  if (kind.startsWith('award_emoji.')) return [];
  if (target_type !== 'Issue' && target_type !== 'MergeRequest') return [];
  return await causeOfEdit(tx, change, { ...shared, target_type, target_id });
};

/** Returns the pipelines that failed or succeeded in this transaction. */
const finishedPipelines = async (tx: Tx, changes: readonly RecordedChange[]): Promise<MailCause[]> => {
  const ids = changes.filter(({ kind }) => kind === 'pipeline.status').map(({ target_id }) => target_id);
  if (ids.length === 0) return [];
  const rows = await tx.db
    .selectFrom('pipelines')
    .select(['id', 'project_id', 'status', 'finished_at'])
    .where(tx.dialect.oneOf('id', [...new Set(ids)]))
    .where('status', 'in', ['failed', 'success'])
    .where('user_id', 'is not', null)
    .execute();
  return rows.map(({ id, project_id, status, finished_at }) => ({
    ...nothingAdded,
    event_key: `pipeline-${id}-${finished_at ?? 0}`,
    kind: status === 'failed' ? 'pipeline.failed' : 'pipeline.succeeded',
    actor_id: null,
    project_id,
    target_type: 'Pipeline',
    target_id: id,
  }));
};

/** Asks users who entered an address themselves to confirm it. */
const requestConfirmations = async (tx: Tx, changes: readonly RecordedChange[]): Promise<void> => {
  const ofAddress = changes.filter(
    ({ kind, data = {} }) => kind === 'user.created' || (kind === 'user.updated' && 'email' in data),
  );
  if (ofAddress.length === 0) return;
  const users = await tx.db
    .selectFrom('users')
    .select('id')
    .where(
      tx.dialect.oneOf(
        'id',
        ofAddress.map(({ target_id }) => target_id),
      ),
    )
    .where('email_unchecked', '=', 1)
    .execute();
  const kind = accountMailKinds.confirm_address;
  const event_key = `confirm-${ofAddress.at(-1)?.event_id ?? 0}`;
  const shared = { kind, event_key, reason: 'requested', is_secret: 1 } as const;
  await enqueueMails(
    tx,
    users.map(({ id }) => ({ user_id: id, ...shared })),
  );
};

const handleChanges = async (
  tx: Tx,
  changes: readonly RecordedChange[],
  { confirm_addresses }: Platform['config'],
): Promise<void> => {
  if (confirm_addresses) await requestConfirmations(tx, changes);
  const causes: MailCause[] = await finishedPipelines(tx, changes);
  for (const change of changes) causes.push(...(await listCauses(tx, change)));
  await enqueueAll(
    tx,
    notifyWork,
    causes.map((payload) => ({ payload, options: { unique_key: `mail ${payload.event_key}` } })),
  );
};

/** Starts enqueuing mail about changes, if a mail server is configured. */
export const observeMailedChanges = (platform: Platform): void => {
  if (!isMailOn(platform)) return;
  platform.store.observe(
    changesTopic,
    async (tx, items) => await handleChanges(tx, items as RecordedChange[], platform.config),
  );
};
