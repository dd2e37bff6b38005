/** Decides by notification levels whether a user gets a mail. Pure. */
import type { NotificationLevel } from '../../platform/db/schema/column_types.ts';
import {
  type CustomEvent,
  type SentEvents,
  completeEvents,
} from '../../projects/notification_settings/levels.ts';

/** Why somebody may get a mail. The first of a user's reasons counts. */
export const reasons = [
  'mentioned',
  'assigned',
  'review_requested',
  'subscribed',
  'participating',
  'member',
  'watching',
] as const;

export type Reason = (typeof reasons)[number];

export type LevelSetting = { level: NotificationLevel; events: SentEvents };

/** The event for each kind of change. */
const eventNames: Record<string, CustomEvent> = {
  'issue.created': 'new_issue',
  'issue.closed': 'close_issue',
  'issue.reopened': 'reopen_issue',
  'issue.updated': 'reassign_issue',
  'issue.due': 'issue_due',
  'merge_request.created': 'new_merge_request',
  'merge_request.closed': 'close_merge_request',
  'merge_request.reopened': 'reopen_merge_request',
  'merge_request.merged': 'merge_merge_request',
  'merge_request.updated': 'reassign_merge_request',
  'merge_request.pushed': 'push_to_merge_request',
  'merge_request.auto_merge': 'merge_when_pipeline_succeeds',
  'note.created': 'new_note',
  'commit_comment.created': 'new_note',
  'release.created': 'new_release',
  'project.moved': 'moved_project',
  'pipeline.failed': 'failed_pipeline',
  'pipeline.fixed': 'fixed_pipeline',
  'pipeline.succeeded': 'success_pipeline',
};

type Change = { kind: string; assigned: string; requested: string };

/** Returns the event of a change that the level `custom` selects; null: it selects none of that kind. */
export const getCustomEvent = ({ kind, assigned, requested }: Change): CustomEvent | null => {
  const isReview = kind === 'merge_request.updated' && requested !== '' && assigned === '';
  return isReview ? 'change_reviewer_merge_request' : (eventNames[kind] ?? null);
};

const isEventEnabled = ({ events }: LevelSetting, event: CustomEvent | null): boolean =>
  event !== null && completeEvents(events)[event];

/** Events that only the level `custom` selects for users who watch. */
const unwatched: ReadonlySet<CustomEvent | null> = new Set([
  'push_to_merge_request',
  'issue_due',
  'success_pipeline',
]);

/** Events that the level `custom` selects or not for the user whom they concern, too. */
const chosenByAll: ReadonlySet<CustomEvent | null> = new Set([
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
]);

/**
 * Decides by the applicable level. An explicit subscription counts at every level, as in GitLab; users who unsubscribed
 * get only mentions.
 * @param event null if the level `custom` has no event for the change
 * @param subscribed the user's explicit subscription; null if there is none
 */
export const wantsMail = (
  event: CustomEvent | null,
  reason: Reason,
  { setting, subscribed }: { setting: LevelSetting; subscribed: boolean | null },
): boolean => {
  if (subscribed === true) return true;
  if (subscribed === false && reason !== 'mentioned') return false;
  const isWatching = reason === 'watching';
  const takesPart = !isWatching && event !== 'success_pipeline';
  const wants: Record<NotificationLevel, () => boolean> = {
    disabled: () => false,
    mention: () => reason === 'mentioned',
    participating: () => takesPart,
    global: () => takesPart,
    watch: () => !unwatched.has(event),
    custom: () => (isWatching || chosenByAll.has(event) ? isEventEnabled(setting, event) : true),
  };
  return wants[setting.level]();
};

type Stored = LevelSetting & { project_id: number | null; group_id: number | null };

/**
 * Returns the setting that applies to a project: its own setting, otherwise the setting of the nearest group, otherwise
 * the user's general setting.
 * @param groupIds the groups of the project, nearest first
 */
export const resolveSetting = (stored: readonly Stored[], groupIds: readonly number[]): LevelSetting => {
  const ordered = [
    stored.find(({ project_id }) => project_id !== null),
    ...groupIds.map((id) => stored.find(({ group_id }) => group_id === id)),
  ];
  const closest = ordered.find((one) => one !== undefined && one.level !== 'global');
  const own = stored.find(({ project_id, group_id }) => project_id === null && group_id === null);
  return closest ?? own ?? { level: 'participating', events: {} };
};
