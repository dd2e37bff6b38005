/** Notification levels and the events that the level `custom` selects. */
import type { Static } from 'typebox';
import type { NotificationLevel } from '../../platform/db/schema/column_types.ts';
import { notificationLevels } from '../projects/related/notification_levels.ts';
import { bool, boolean, object, oneOf, optional, string, unavailable } from '../../platform/http/schema.ts';

const levels = Object.keys(notificationLevels) as NotificationLevel[];
/** A user's own level cannot refer to itself. */
const ownLevels = levels.filter((level) => level !== 'global');

export const customEvents = [
  'new_note',
  'new_release',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
] as const;

export type CustomEvent = (typeof customEvents)[number];

/** Enabled unless the user disables them. */
const enabledByDefault: ReadonlySet<CustomEvent> = new Set([
  'failed_pipeline',
  'fixed_pipeline',
  'moved_project',
]);

const mapEvents = <T>(value: T): Record<CustomEvent, T> =>
  Object.fromEntries(customEvents.map((event) => [event, value])) as Record<CustomEvent, T>;

const eventParams = {
  ...mapEvents(optional(boolean({ description: 'applies to the level `custom`' }))),
  new_epic: unavailable(),
};

export const settingParams = {
  level: optional(oneOf(levels)),
  ...eventParams,
  // Users have one address, for everything.
  notification_email: unavailable(),
};
export const ownSettingParams = { level: optional(oneOf(ownLevels)), ...eventParams };

export const settingFields = { level: string, events: optional(object(mapEvents(bool))) };

const shape = object(settingParams);

export type SettingInput = Partial<Static<typeof shape>>;
export type SentEvents = Partial<Record<CustomEvent, boolean>>;

/** Returns the events that the input enables or disables. */
export const readEvents = (input: SettingInput): SentEvents =>
  Object.fromEntries(
    customEvents.filter((event) => input[event] !== undefined).map((event) => [event, input[event]]),
  );

/** Returns whether each event is enabled. @param sent events that the user enabled or disabled */
export const completeEvents = (sent: SentEvents): Record<CustomEvent, boolean> =>
  Object.fromEntries(
    customEvents.map((event) => [event, sent[event] ?? enabledByDefault.has(event)]),
  ) as Record<CustomEvent, boolean>;
