/** Broadcast messages: administrators list, create, change and delete them. */
import { isActive, listMessages, findMessage } from '../../../../instance/broadcast_messages/queries.ts';
import type { BroadcastMessage } from '../../../../instance/broadcast_messages/queries.ts';
import {
  createMessage,
  deleteMessage,
  updateMessage,
} from '../../../../instance/broadcast_messages/write.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { form } from '../../../parts/form.ts';
import { withFormStatus } from '../../../parts/form_problems.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { baseField } from '../../../parts/fields/guard_edits.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { moment } from '../../../parts/timestamp.ts';
import { adminListView } from '../admin_list.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import {
  type Filled,
  type Shown,
  blank,
  fromSent,
  messageControls,
  messageFields,
  messageGuard,
  toShown,
} from './message_form.ts';

const path = '/admin/broadcast_messages';

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
    html`${form(visit, { action, submit, problems }, ...messageControls(values, problems), base ?? null)}${card}`,
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
