/** Chat services whose integration is a hook with a format. Pure. */
import { trimEnd } from '../../platform/trim.ts';
import type { EventFlag, HookFormat } from '../hooks/event_flags.ts';

export const chatSlugs = ['slack', 'mattermost', 'microsoft-teams', 'discord'] as const;

export type ChatSlug = (typeof chatSlugs)[number];

type Chat = {
  title: string;
  format: HookFormat;
  /** Whether incoming webhooks have a channel and a user name. */
  hasChannel: boolean;
  toUrl: (webhook: string) => string;
};

const asSent = (webhook: string): string => webhook;

/** Discord reads messages for Slack at a path of its own. */
const toSlackPath = (webhook: string): string => {
  const [, address = '', query = ''] = /^([^?]*)(.*)$/s.exec(webhook) ?? [];
  const path = trimEnd(address, '/');
  return `${path}${path.endsWith('/slack') ? '' : '/slack'}${query}`;
};

export const chats: { [S in ChatSlug]: Chat } = {
  slack: { title: 'Slack notifications', format: 'slack', hasChannel: true, toUrl: asSent },
  mattermost: { title: 'Mattermost notifications', format: 'slack', hasChannel: true, toUrl: asSent },
  'microsoft-teams': {
    title: 'Microsoft Teams notifications',
    format: 'microsoft_teams',
    hasChannel: false,
    toUrl: asSent,
  },
  discord: { title: 'Discord Notifications', format: 'slack', hasChannel: false, toUrl: toSlackPath },
};

/** The events that integrations select, by the names of clients. */
export const chatFlags = [
  'push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'tag_push_events',
  'note_events',
  'confidential_note_events',
  'pipeline_events',
  'job_events',
  'wiki_page_events',
  'deployment_events',
] as const satisfies readonly EventFlag[];

/** Events of a new integration that does not name them. Unlike in GitLab, confidential ones must be asked for. */
export const defaultFlags: readonly EventFlag[] = [
  'push_events',
  'issues_events',
  'merge_requests_events',
  'tag_push_events',
  'note_events',
  'wiki_page_events',
];

export const isChat = (slug: string): slug is ChatSlug => chatSlugs.some((one) => one === slug);
