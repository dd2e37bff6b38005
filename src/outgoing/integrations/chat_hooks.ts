/** Sets, reads and deletes the integrations of a project that are hooks with a format. */
import type { Call } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import { invalid, missingAttribute, notFound } from '../../platform/errors.ts';
import { formatTime } from '../../platform/time.ts';
import type { HookEdit } from '../hooks/hook_columns.ts';
import type { HookOwner } from '../hooks/owners.ts';
import { type HookRow, listIntegrationHooks, loadIntegrationHook } from '../hooks/queries.ts';
import { createIntegrationHook, deleteHook, updateHook } from '../hooks/write.ts';
import { type ChatSlug, chatFlags, chats, defaultFlags, isChat } from './chats.ts';

export type ChatInput = { [F in (typeof chatFlags)[number]]?: boolean } & {
  webhook?: string;
  active?: boolean;
};

const toOwner = (projectId: number): HookOwner => ({ type: 'project', id: projectId });

const flagsOf = (input: ChatInput): HookEdit =>
  Object.fromEntries(
    chatFlags.flatMap((name) => {
      const value = input[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const startingFlags: HookEdit = Object.fromEntries(
  chatFlags.map((name) => [name, defaultFlags.includes(name)]),
);

/** Loads the hook of an integration. @throws Failure 404 */
const findChatHook = async (db: Reader, projectId: number, slug: ChatSlug): Promise<HookRow> => {
  const hook = await loadIntegrationHook(db, toOwner(projectId), slug);
  if (hook === undefined) throw notFound('Integration');
  return hook;
};

/** JSON of an integration in a list. */
const chatJson = (row: HookRow, slug: ChatSlug) => ({
  id: row.id,
  title: chats[slug].title,
  slug,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
  active: true,
  ...Object.fromEntries(chatFlags.map((name) => [name, row[name] === 1])),
});

/** JSON of an integration with its properties. As in GitLab, the URL is not one of them. */
const singleChatJson = (row: HookRow, slug: ChatSlug) => ({
  ...chatJson(row, slug),
  properties: {
    ...(chats[slug].hasChannel && { username: null, channel: null }),
    notify_only_broken_pipelines: false,
    branches_to_be_notified: 'all',
  },
});

export const listChats = async (db: Reader, projectId: number) => {
  const rows = await listIntegrationHooks(db, toOwner(projectId));
  return rows.flatMap((row) =>
    row.integration !== null && isChat(row.integration) ? [chatJson(row, row.integration)] : [],
  );
};

export const showChat = async (db: Reader, projectId: number, slug: ChatSlug) =>
  singleChatJson(await findChatHook(db, projectId, slug), slug);

/**
 * Connects a project with a chat, or edits the connection.
 * @throws Failure 400 without an address; 422 for an invalid one
 */
export const setChat = async (call: Call, projectId: number, slug: ChatSlug, input: ChatInput) => {
  if (input.active === false) throw invalid({ active: ['cannot be false: delete the integration instead'] });
  const owner = toOwner(projectId);
  const { format, title, toUrl } = chats[slug];
  const webhook = input.webhook?.trim() ?? '';
  const edit = { ...flagsOf(input), ...(webhook !== '' && { url: toUrl(webhook) }) };
  if ((await loadIntegrationHook(call.db, owner, slug)) === undefined) {
    if (edit.url === undefined) throw missingAttribute('webhook');
    const fresh = { ...startingFlags, ...edit, url: edit.url, name: title, format };
    const made = await createIntegrationHook(call, owner, slug, fresh);
    if (made !== null) return singleChatJson(made, slug);
  }
  const { id } = await findChatHook(call.db, projectId, slug);
  return singleChatJson(await updateHook(call, owner, id, edit), slug);
};

/** Deletes the hook of an integration with its pending deliveries. @throws Failure 404 */
export const deleteChat = async (call: Call, projectId: number, slug: ChatSlug): Promise<void> => {
  const { id } = await findChatHook(call.db, projectId, slug);
  await deleteHook(call, toOwner(projectId), id);
};
