/** Broadcast messages: administrators list, create, change and delete them. */
import type { Static, TObject } from 'typebox';
import { isActive, listMessages, findMessage } from '../../../../instance/broadcast_messages/queries.ts';
import type { BroadcastMessage } from '../../../../instance/broadcast_messages/queries.ts';
import {
  broadcastTypes,
  createMessage,
  deleteMessage,
  themes,
  updateMessage,
} from '../../../../instance/broadcast_messages/write.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import {
  boolean,
  clearable,
  id,
  integers,
  object,
  oneOf,
  optional,
  text,
  time,
} from '../../../../../platform/http/schema.ts';
import { formatTime, parseTime } from '../../../../../platform/time.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import {
  type FormProblems,
  checkbox,
  checkboxes,
  form,
  input,
  select,
  textArea,
  withFormStatus,
} from '../../../parts/form.ts';
import { fieldText, isTicked } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { baseField, guardEdits } from '../../../parts/fields/guard_edits.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { moment } from '../../../parts/timestamp.ts';
import { adminListView } from '../admin_list.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';

const path = '/admin/broadcast_messages';

const messageFields = {
  message: text({ maxLength: 10_000 }),
  starts_at: optional(clearable(time())),
  ends_at: optional(clearable(time())),
  theme: oneOf(themes, { default: 'indigo' }),
  target_access_levels: { ...integers(), default: [] as number[] },
  target_path: optional(clearable(text())),
  broadcast_type: oneOf(broadcastTypes, { default: 'banner' }),
  dismissable: boolean({ default: false }),
};

type Filled = Static<TObject<typeof messageFields>>;

const roles = [
  ['10', 'Guests'],
  ['20', 'Reporters'],
  ['30', 'Developers'],
  ['40', 'Maintainers'],
  ['50', 'Owners'],
] as const;

/** The values of the form as text. */
type Shown = {
  message: string;
  starts_at: string;
  ends_at: string;
  theme: string;
  target_access_levels: readonly string[];
  target_path: string;
  broadcast_type: string;
  dismissable: boolean;
};

const blank: Shown = {
  message: '',
  starts_at: '',
  ends_at: '',
  theme: 'indigo',
  target_access_levels: [],
  target_path: '',
  broadcast_type: 'banner',
  dismissable: true,
};

const toShown = (row: BroadcastMessage): Shown => ({
  message: row.message,
  starts_at: formatTime(row.starts_at),
  ends_at: formatTime(row.ends_at),
  theme: row.theme,
  target_access_levels: row.target_access_levels.map(String),
  target_path: row.target_path ?? '',
  broadcast_type: row.broadcast_type,
  dismissable: row.dismissable === 1,
});

/** Returns a time as it is stored; the stored one where none was sent. */
const toStoredTime = (typed: string, saved: string): string => {
  const time = typed === '' ? null : parseTime(typed);
  return time === null ? typed || saved : formatTime(time);
};

const messageGuard = guardEdits({
  word: 'message',
  fromRecord: toShown,
  labels: {
    message: 'Message',
    starts_at: 'Start (UTC)',
    ends_at: 'End (UTC)',
    broadcast_type: 'Kind',
    theme: 'Theme',
    target_path: 'Show only on pages of this path',
    target_access_levels: 'Show only to',
    dismissable: 'Users can dismiss it',
  },
  normalize: (typed, saved) => ({
    ...typed,
    starts_at: toStoredTime(typed.starts_at, saved.starts_at),
    ends_at: toStoredTime(typed.ends_at, saved.ends_at),
  }),
});

/** Returns the form as it was sent, for fields that could not be parsed. */
const fromSent = (sent: RawParams): Shown => ({
  message: fieldText(sent['message']),
  starts_at: fieldText(sent['starts_at']),
  ends_at: fieldText(sent['ends_at']),
  theme: fieldText(sent['theme']),
  target_access_levels: [sent['target_access_levels']].flat().map(fieldText),
  target_path: fieldText(sent['target_path']),
  broadcast_type: fieldText(sent['broadcast_type']),
  dismissable: isTicked(sent['dismissable']),
});

/** Returns options whose labels are the words, capitalized and without hyphens. */
const toOptions = (words: readonly string[]) =>
  words.map(
    (word) => [word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`.replaceAll('-', ' ')] as const,
  );

const fields = (filled: Shown, problems: FormProblems): Html[] => [
  textArea({ name: 'message', label: 'Message', hint: 'Markdown.', value: filled.message, problems }),
  input({
    name: 'starts_at',
    label: 'Start (UTC)',
    hint: 'Such as 2030-01-31T12:00:00Z. Default: now.',
    value: filled.starts_at,
    problems,
  }),
  input({
    name: 'ends_at',
    label: 'End (UTC)',
    hint: 'Default: one hour after the start.',
    value: filled.ends_at,
    problems,
  }),
  select({
    name: 'broadcast_type',
    label: 'Kind',
    value: filled.broadcast_type,
    options: toOptions(broadcastTypes),
  }),
  select({ name: 'theme', label: 'Theme', value: filled.theme, options: toOptions(themes) }),
  input({
    name: 'target_path',
    label: 'Show only on pages of this path',
    hint: 'Such as /group/project/*. Default: all pages.',
    value: filled.target_path,
    problems,
  }),
  checkboxes({
    name: 'target_access_levels',
    label: 'Show only to',
    hint: 'Users with this role in any project or group. None selected: everyone.',
    values: filled.target_access_levels,
    boxes: roles.map(([value, label]) => ({ value, label })),
    problems,
  }),
  checkbox({
    name: 'dismissable',
    label: 'Users can dismiss it',
    checked: filled.dismissable,
    problems,
  }),
];

const toInput = ({ starts_at, ends_at, ...rest }: Filled) => ({
  ...rest,
  ...(starts_at !== null && starts_at !== undefined && { starts_at }),
  ...(ends_at !== null && ends_at !== undefined && { ends_at }),
});

type FormWords = { action: string; title: string; submit: string; base?: Html; card?: Html | null };

const formView = (
  visit: Visit,
  { action, title, submit, base, card }: FormWords,
  { values, problems }: FormState<Shown>,
): View => {
  const view = adminView(
    { path, title },
    html`${form(visit, { action, submit, problems }, ...fields(values, problems), base ?? null)}${card}`,
  );
  return withFormStatus(view, problems);
};

const adding = { action: path, title: 'New broadcast message', submit: 'Create message' };

const editView = (
  visit: Visit,
  row: BroadcastMessage,
  state: FormState<Shown> = unsent(toShown(row)),
): View => {
  const action = `${path}/${row.id}`;
  const guard = messageGuard.parts(row, state, `${action}/edit`);
  return formView(visit, { action, title: 'Edit broadcast message', ...guard }, state);
};

const line = (
  visit: Visit,
  row: BroadcastMessage,
): Html => html`<li><span class="lead muted">${icon('info')}</span>
<span class="row tight"><a class="title" href="${path}/${row.id}/edit">${row.message.slice(0, 100)}</a>${
  isActive(row, visit.call.now) && html`<span class="badge">Shown now</span>`
}${row.broadcast_type === 'notification' && html`<span class="badge">Notification</span>`}</span>
<span class="meta"><span>From ${moment(row.starts_at)} until ${moment(row.ends_at)}${row.target_path !== null && html` · on <code>${row.target_path}</code>`}</span></span>
<span class="side">${form(visit, { action: `${path}/${row.id}/delete`, submit: 'Delete', name: `Delete message ${row.id}`, danger: true })}</span></li>
`;

export const broadcastMessagePages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object(pageParams),
    handle: async (visit, query) => {
      const at = pageRequest(query);
      const { items, total } = await listMessages(visit.call.db, at);
      return adminListView({
        path,
        title: 'Broadcast messages',
        head: html`<p>Announcements on pages, for example before maintenance.</p>
<a class="button primary" href="${path}/new">${icon('plus')} New message</a>`,
        noun: 'message',
        rows: items.map((row) => line(visit, row)),
        empty: {
          icon: 'info',
          title: 'No broadcast messages',
          text: 'Add one to show a notice at the top of every page.',
        },
        paging: { query: {}, page: at, total },
      });
    },
  }),
  page({
    method: 'GET',
    path: `${path}/new`,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => formView(visit, adding, unsent(blank)),
  }),
  formPage({
    path,
    audience: 'admin',
    address: {},
    fields: messageFields,
    find: async () => null,
    fromSent,
    run: async ({ call }, _found, params) => {
      await createMessage(call, toInput(params));
      return redirect(path, 'The message was saved.');
    },
    view: (visit, _found, state) => formView(visit, adding, state),
  }),
  page({
    method: 'GET',
    path: `${path}/:id/edit`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, { id: messageId }) => editView(visit, await findMessage(visit.call.db, messageId)),
  }),
  formPage({
    path: `${path}/:id`,
    audience: 'admin',
    address: { id: id() },
    fields: { ...messageFields, ...baseField },
    find: async ({ call }, address) => await findMessage(call.db, address.id),
    fromSent,
    run: async ({ call }, message, { id: _id, base, ...params }, typed) => {
      await updateMessage(call, message.id, { ...toInput(params), ...messageGuard.check(base, typed) });
      return redirect(path, 'The message was saved.');
    },
    view: editView,
  }),
  page({
    method: 'POST',
    path: `${path}/:id/delete`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async ({ call }, { id: messageId }) => {
      await deleteMessage(call, messageId);
      return redirect(path, 'The message was deleted.');
    },
  }),
];
