/** Row types of the tables of webhooks; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { Flag, Id } from './column_types.ts';

/** A hook of a project, of a group, or (neither) of the instance. */
export type HooksTable = {
  id: Id;
  project_id: number | null;
  group_id: number | null;
  /** As entered; may contain `{name}` of `sealed_url_variables`. */
  url: string;
  name: string | null;
  description: string | null;
  push_events: Flag;
  tag_push_events: Flag;
  issues_events: Flag;
  confidential_issues_events: Flag;
  merge_requests_events: Flag;
  note_events: Flag;
  confidential_note_events: Flag;
  job_events: Flag;
  pipeline_events: Flag;
  wiki_page_events: Flag;
  deployment_events: Flag;
  releases_events: Flag;
  member_events: Flag;
  emoji_events: Flag;
  feature_flag_events: Flag;
  repository_update_events: Flag;
  enable_ssl_verification: Flag;
  push_events_branch_filter: string | null;
  branch_filter_strategy: 'all_branches' | 'wildcard' | 'regex';
  custom_webhook_template: string | null;
  /** Format: the payload, or a message for a chat service. */
  format: Generated<'json' | 'slack' | 'microsoft_teams'>;
  /** Slug of the integration that the hook is, such as `slack`; null: an ordinary hook. */
  integration: Generated<string | null>;
  /** Encrypted (`core/access/credentials/encrypt_secrets.ts`); null: none. */
  sealed_token: string | null;
  sealed_signing_token: string | null;
  /** Encrypted JSON objects: values by name. */
  sealed_url_variables: string | null;
  sealed_custom_headers: string | null;
  uuid: string;
  /** Consecutive failed attempts. */
  failures: Generated<number>;
  /** Time of the first of these; null: none, or unknown. */
  failing_since: Generated<number | null>;
  /** No attempt before this time; null: the hook works. */
  disabled_until: Generated<number | null>;
  created_at: number;
  updated_at: number;
};

/** A change that at least one hook delivers. */
export type HookEventsTable = {
  id: Id;
  /** Row of the change log; null if a change that it does not record. */
  event_id: number | null;
  project_id: number | null;
  /** Name of the flag column of `hooks` that subscribes to this event, without its `_events` suffix: `push`. */
  trigger_name: string;
  uuid: string;
  /** JSON snapshot of the records after the change. */
  snapshot: string;
  created_at: number;
};

/** Deliveries that have not succeeded. Those with the same hook and target run in the order of their ids. */
export type HookDeliveriesTable = {
  id: Id;
  hook_id: number;
  hook_event_id: number;
  /** `Issue 5` */
  target: string;
  attempts: Generated<number>;
  next_attempt_at: number;
};

/** Attempts of deliveries, kept for a while. */
export type HookLogsTable = {
  id: Id;
  hook_id: number;
  /** `webhook-id`, the same at each attempt. */
  delivery_uuid: string;
  event_uuid: string;
  trigger_name: string;
  /** `X-Gitlab-Event`. */
  event_name: string;
  /** Without the values of its variables. */
  url: string;
  /** JSON object, without secrets. */
  request_headers: string;
  request_data: string;
  response_headers: string;
  response_body: string;
  /** null: no response. */
  response_status: number | null;
  /** Why there was no response. */
  error: string | null;
  /** Milliseconds. */
  execution_duration: number;
  created_at: number;
};

export type HooksSchema = {
  hooks: HooksTable;
  hook_events: HookEventsTable;
  hook_deliveries: HookDeliveriesTable;
  hook_logs: HookLogsTable;
};
