import type { Platform } from '../../core/platform.ts';
import { array, bool, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { isBackingOff } from './backoff.ts';
import { eventFlagNames, systemFlags } from './event_flags.ts';
import type { HookRow } from './queries.ts';
import { type Values, unsealValues } from './secrets.ts';

const keys = array(object({ key: string }));

const shared = {
  id: int,
  url: string,
  name: nullable(string),
  description: nullable(string),
};

const settings = {
  enable_ssl_verification: bool,
  push_events_branch_filter: nullable(string),
  branch_filter_strategy: string,
  alert_status: string,
  disabled_until: nullable(timestamp),
  url_variables: keys,
  custom_headers: keys,
  custom_webhook_template: nullable(string),
  format: string,
  created_at: timestamp,
};

const flagShapes = Object.fromEntries(eventFlagNames.map((name) => [name, bool]));

const shapeWith = (owner: object) => object({ ...shared, ...owner, ...flagShapes, ...settings });

export const hookShapes = {
  project: shapeWith({ project_id: int }),
  group: shapeWith({ group_id: int }),
  instance: object({
    ...shared,
    ...Object.fromEntries(systemFlags.map((name) => [name, bool])),
    ...settings,
  }),
};

const listKeys = (values: Values): { key: string }[] => Object.keys(values).map((key) => ({ key }));

/** Returns whether a failing hook pauses. */
export const isPaused = (
  { disabled_until, failures }: Pick<HookRow, 'disabled_until' | 'failures'>,
  now: number,
): boolean => disabled_until !== null && isBackingOff(disabled_until, now, failures);

/** JSON of a hook, without its secrets. */
export const hookJson = (
  { platform, now }: { platform: Pick<Platform, 'secrets'>; now: number },
  row: HookRow,
) => ({
  id: row.id,
  url: row.url,
  name: row.name,
  description: row.description,
  project_id: row.project_id,
  group_id: row.group_id,
  ...Object.fromEntries(eventFlagNames.map((name) => [name, row[name] === 1])),
  enable_ssl_verification: row.enable_ssl_verification === 1,
  push_events_branch_filter: row.push_events_branch_filter,
  branch_filter_strategy: row.branch_filter_strategy,
  alert_status: isPaused(row, now) ? 'temporarily_disabled' : 'executable',
  disabled_until: formatTimeOrNull(row.disabled_until),
  url_variables: listKeys(unsealValues(platform, row.sealed_url_variables)),
  custom_headers: listKeys(unsealValues(platform, row.sealed_custom_headers)),
  custom_webhook_template: row.custom_webhook_template,
  format: row.format,
  created_at: formatTime(row.created_at),
});
