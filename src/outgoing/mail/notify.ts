/** Finds the recipients of a change and enqueues their mails: background work, in batches, safe to run twice. */
import { type NewMail, enqueueMails, isMailOn } from '../../core/mail/enqueue_mails.ts';
import { loadProjectViewers } from '../../core/access/project_viewers.ts';
import type { Platform } from '../../core/platform.ts';
import type { Reader, Store } from '../../platform/db/open.ts';
import type { Payload } from '../../platform/queue/enqueue.ts';
import { type Project, projectsById } from '../../projects/projects/find.ts';
import { loadGroups, loadSettings } from './applicable_settings.ts';
import { type Candidate, loadCandidates, maxCandidates } from './candidate_recipients.ts';
import { getCustomEvent, resolveSetting, wantsMail } from './levels.ts';
import type { MailCause } from './observe.ts';
import { loadSubjects } from './subjects.ts';

/** Loads the explicit subscriptions of users to a record. */
const loadSubscriptions = async (
  { db, dialect }: Store,
  userIds: readonly number[],
  { target_type, target_id }: MailCause,
): Promise<Map<number, boolean>> => {
  if (target_type !== 'Issue' && target_type !== 'MergeRequest') return new Map();
  const rows = await db
    .selectFrom('subscriptions')
    .select(['user_id', 'subscribed'])
    .where('target_type', '=', target_type)
    .where('target_id', '=', target_id)
    .where(dialect.oneOf('user_id', userIds))
    .execute();
  return new Map(rows.map(({ user_id, subscribed }) => [user_id, subscribed === 1]));
};

/** Keeps the candidates who want the mail, by level and subscription, and may read its subject. */
const listRecipients = async (
  { store, clock }: Platform,
  candidates: readonly Candidate[],
  { cause, project, groupIds }: { cause: MailCause; project: Project; groupIds: readonly number[] },
): Promise<Candidate[]> => {
  const ids = candidates.map(({ user_id }) => user_id);
  const [settings, subscriptions, viewers, subjects] = await Promise.all([
    loadSettings(store, ids, { project, groupIds }),
    loadSubscriptions(store, ids, cause),
    loadProjectViewers(store.db, project, ids, clock.now()),
    loadSubjects(store, [cause]),
  ]);
  const [subject] = subjects.values();
  const event = getCustomEvent(cause);
  return candidates.filter(({ user_id, reason }) => {
    const viewer = viewers.get(user_id);
    if (viewer === undefined || subject?.isVisibleTo(viewer) !== true) return false;
    const setting = resolveSetting(settings.get(user_id) ?? [], groupIds);
    const subscribed = subscriptions.get(user_id) ?? null;
    return wantsMail(event, reason, { setting, subscribed });
  });
};

const toMail = (cause: MailCause, { user_id, reason }: Candidate): NewMail => ({
  user_id,
  reason,
  kind: cause.kind,
  event_key: cause.event_key,
  actor_id: cause.actor_id,
  target_type: cause.target_type,
  target_id: cause.target_id,
  note_id: cause.note_id,
});

/** Returns whether the pipeline before, of the same ref, failed. */
const isFixed = async (db: Reader, pipelineId: number): Promise<boolean> => {
  const pipeline = await db
    .selectFrom('pipelines')
    .select(['project_id', 'ref'])
    .where('id', '=', pipelineId)
    .executeTakeFirst();
  if (pipeline === undefined) return false;
  const last = async (status: 'failed' | 'success'): Promise<number> => {
    const { id } = await db
      .selectFrom('pipelines')
      .select((is) => is.fn.max('id').as('id'))
      .where('project_id', '=', pipeline.project_id)
      .where('ref', '=', pipeline.ref)
      .where('status', '=', status)
      .where('id', '<', pipelineId)
      .executeTakeFirstOrThrow();
    return id ?? 0;
  };
  return (await last('failed')) > (await last('success'));
};

/** Reads the change from the payload of its work. A pipeline that succeeds after one that failed is a fix. */
const readCause = async (db: Reader, payload: Payload): Promise<MailCause> => {
  const cause = payload as MailCause;
  const fixes = cause.kind === 'pipeline.succeeded' && (await isFixed(db, cause.target_id));
  return fixes ? { ...cause, kind: 'pipeline.fixed' } : cause;
};

/** Enqueues the mails of a change. */
export const notifyUsers = async (platform: Platform, payload: Payload): Promise<void> => {
  if (!isMailOn(platform)) return;
  const { store } = platform;
  const cause = await readCause(store.db, payload);
  const project = (await projectsById(store.db, [cause.project_id])).get(cause.project_id);
  if (project === undefined || project.deleted_at !== null || project.emails_enabled === 0) return;
  const groups = await loadGroups(store.db, project.namespace_id);
  if (groups.some(({ emails_disabled }) => emails_disabled === 1)) return;
  const groupIds = groups.map(({ id }) => id);
  for (let after = 0; ;) {
    const candidates = await loadCandidates(store, { cause, project, after, now: platform.clock.now() });
    const recipients = await listRecipients(platform, candidates, { cause, project, groupIds });
    if (recipients.length > 0)
      await store.write(
        async (tx) =>
          await enqueueMails(
            tx,
            recipients.map((one) => toMail(cause, one)),
          ),
      );
    if (candidates.length < maxCandidates) return;
    after = candidates.at(-1)?.user_id ?? 0;
  }
};
