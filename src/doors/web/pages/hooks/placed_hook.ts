/** Where hooks are managed, and how their pages name things. */
import type { EventFlag, HookFormat } from '../../../../outgoing/hooks/event_flags.ts';
import { eventFlagNames, systemFlags } from '../../../../outgoing/hooks/event_flags.ts';
import type { HookOwner } from '../../../../outgoing/hooks/owners.ts';
import { type HookRow, findHook } from '../../../../outgoing/hooks/queries.ts';
import type { Visit } from '../../page.ts';
import type {
  SettingsOwner,
  SettingsList,
  SettingsListRoute,
  SettingsListParams,
} from '../ci/owner_settings_routes.ts';

export const ownerOf = (owner: SettingsOwner): HookOwner => {
  if (owner.scope === 'instance') return { type: 'instance' };
  return owner.scope === 'group'
    ? { type: 'group', id: owner.group.id }
    : { type: 'project', id: owner.project.id };
};

/** Labels of the events that hooks can ask for. Those without a label are accepted by the API and never happen. */
export const eventLabels: { [F in EventFlag]?: string } = {
  push_events: 'Pushes to branches',
  tag_push_events: 'Pushes of tags',
  issues_events: 'Issues',
  confidential_issues_events: 'Confidential issues',
  note_events: 'Comments',
  confidential_note_events: 'Comments on confidential issues',
  merge_requests_events: 'Merge requests',
  job_events: 'Jobs',
  pipeline_events: 'Pipelines',
  deployment_events: 'Deployments',
  releases_events: 'Releases',
  member_events: 'Members',
  emoji_events: 'Emoji reactions',
  repository_update_events: 'Repository updates',
};

export const formatLabels: { [F in HookFormat]: string } = {
  json: 'JSON',
  slack: 'Message for Slack, Mattermost or Rocket.Chat',
  microsoft_teams: 'Message for Microsoft Teams',
};

export const eventHints: { [F in EventFlag]?: string } = {
  confidential_issues_events: 'The receiver sees what only members of the project may read.',
  confidential_note_events: 'The receiver sees what only members of the project may read.',
  repository_update_events: 'One delivery per push, with all branches and tags of it.',
};

/** Events that hooks of an owner can ask for. */
export const listEvents = (owner: HookOwner): EventFlag[] =>
  (owner.type === 'instance' ? systemFlags : eventFlagNames).filter(
    (name) => eventLabels[name] !== undefined,
  );

export const nouns: Record<SettingsOwner['scope'], { title: string; one: string }> = {
  project: { title: 'Webhooks', one: 'webhook' },
  group: { title: 'Webhooks', one: 'webhook' },
  instance: { title: 'System hooks', one: 'system hook' },
};

/**
 * Returns whether pages hide the URL of a hook: anyone who reads that of a chat from a screen can write to it. The API
 * answers it, as GitLab does, so it is no secret to those who manage the hook.
 */
export const hasHiddenUrl = ({ format }: Pick<HookRow, 'format'>): boolean => format !== 'json';

const showHost = (url: string): string => {
  const host = URL.parse(url)?.origin;
  return host === undefined ? '[hidden]' : `${host}/[hidden]`;
};

/** The URL of a hook as pages show it: of a chat, only its host. */
export const shownUrl = ({ url, format }: Pick<HookRow, 'url' | 'format'>): string =>
  hasHiddenUrl({ format }) ? showHost(url) : url;

/** The URL of a delivery as its page shows it: if the hook has another one now, only its host, for it may be of a chat. */
export const shownLogUrl = ({ url, format }: Pick<HookRow, 'url' | 'format'>, sentTo: string): string =>
  url === sentTo ? shownUrl({ url, format }) : showHost(sentTo);

/** The name of a hook, or else its URL. */
export const titleOf = (hook: Pick<HookRow, 'name' | 'url' | 'format'>): string =>
  hook.name ?? shownUrl(hook);

export type FoundHook = { list: SettingsList; owner: HookOwner; hook: HookRow };

/** Finds the hook of a page. @throws Failure 404, 403 */
export const findHookOfOwner = async (
  kind: SettingsListRoute,
  visit: Visit,
  params: SettingsListParams & { id: number },
): Promise<FoundHook> => {
  const list = await kind.find(visit, params);
  const owner = ownerOf(list.owner);
  return { list, owner, hook: await findHook(visit.call.db, owner, params.id) };
};
