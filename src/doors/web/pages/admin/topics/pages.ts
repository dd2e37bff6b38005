/** Topics of the instance, for administrators. The forms call the operations of the API. */
import type { Static } from 'typebox';
import { invalid, nullIfMissing } from '../../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { boolean, clearable, id, object, optional, text } from '../../../../../platform/http/schema.ts';
import { withAvatar } from '../../../../../identity/avatars/store_avatar.ts';
import { createTopic } from '../../../../../projects/topics/create.ts';
import { deleteTopic } from '../../../../../projects/topics/delete.ts';
import { mergeTopics } from '../../../../../projects/topics/merge.ts';
import { updateTopic } from '../../../../../projects/topics/update.ts';
import {
  type TopicRow,
  findTopic,
  findTopicByName,
  listTopics,
} from '../../../../../projects/topics/queries.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { readTexts } from '../../../parts/fields/field_text.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { searchForm } from '../../../parts/search_form.ts';
import { adminListView } from '../admin_list.ts';
import { editView, fromSent, newView, topicLine, topicsPath as path } from './render_topics.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';

const topicFields = {
  name: text(),
  title: optional(clearable(text())),
  description: optional(clearable(text({ maxLength: 1024 }))),
  remove_avatar: boolean({ default: false }),
};

const shape = object(topicFields);

const listView = async (
  visit: Visit,
  { search = '', ...paged }: { search?: string; page?: number; per_page?: number },
): Promise<View> => {
  const at = pageRequest(paged);
  const { items, total } = await listTopics(visit.call, { search }, at);
  return adminListView({
    path,
    title: 'Topics',
    head: html`${searchForm({ path, name: 'search', value: search, label: 'Search topics' })}
<a class="button primary" href="${path}/new">${icon('plus')} New topic</a>`,
    noun: 'topic',
    rows: items.map((topic) => topicLine(visit, topic)),
    empty: { icon: 'tag', title: 'No topics', text: 'Projects can also create topics, in their settings.' },
    paging: { query: { search: omitEmpty(search) }, page: at, total },
  });
};

/** An empty title is the name. */
const toEdit = ({ name, title, description }: Static<typeof shape>) => ({
  name,
  title: title || name,
  description: description ?? null,
});

const create = formPage({
  path,
  audience: 'admin',
  address: {},
  fields: topicFields,
  find: async () => null,
  fromSent,
  run: async (visit, _found, params) => {
    const { call } = visit;
    await withAvatar(
      call.platform,
      visit.file('avatar') ?? undefined,
      async (avatar: { avatar?: string | null }) => await createTopic(call, { ...toEdit(params), ...avatar }),
    );
    return redirect(path, `The topic ${params.name} was created.`);
  },
  view: (visit, _found, state) => newView(visit, state),
});

const find = async ({ call }: Visit, address: { id: number }): Promise<TopicRow> =>
  await findTopic(call, address.id);

const update = formPage({
  path: `${path}/:id`,
  audience: 'admin',
  address: { id: id() },
  fields: topicFields,
  find,
  fromSent,
  run: async (visit, topic, params) => {
    const { call } = visit;
    const file = visit.file('avatar') ?? (params.remove_avatar ? null : undefined);
    await withAvatar(
      call.platform,
      file,
      async (avatar: { avatar?: string | null }) =>
        await updateTopic(call, topic.id, { ...toEdit(params), ...avatar }),
    );
    return redirect(path, 'The topic was saved.');
  },
  view: (visit, topic, edit) => editView(visit, topic, { edit }),
});

const merge = formPage({
  path: `${path}/:id/merge`,
  audience: 'admin',
  address: { id: id() },
  fields: { target: optional(text()) },
  find,
  fromSent: (sent) => readTexts(sent, ['target']),
  run: async ({ call }, topic, { target: name = '' }) => {
    const target = await nullIfMissing(findTopicByName(call, name.trim()));
    if (target === null) throw invalid({ target: ['was not found'] });
    await mergeTopics(call, topic.id, target.id);
    return redirect(path, `The topic ${topic.name} was merged into ${target.name}.`);
  },
  view: (visit, topic, state) => editView(visit, topic, { merge: state }),
});

const remove = page({
  method: 'POST',
  path: `${path}/:id/delete`,
  audience: 'admin',
  params: object({ id: id() }),
  handle: async ({ call }, { id: topicId }) => {
    const { name } = await findTopic(call, topicId);
    await deleteTopic(call, topicId);
    return redirect(path, `The topic ${name} was deleted.`);
  },
});

export const topicPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({ search: optional(text()), ...pageParams }),
    handle: async (visit, query) => await listView(visit, query),
  }),
  page({
    method: 'GET',
    path: `${path}/new`,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => newView(visit),
  }),
  page({
    method: 'GET',
    path: `${path}/:id/edit`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, { id: topicId }) => editView(visit, await findTopic(visit.call, topicId)),
  }),
  create,
  update,
  merge,
  remove,
];
