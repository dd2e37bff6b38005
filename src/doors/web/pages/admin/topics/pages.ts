/** Topics of the instance, for administrators. The forms call the operations of the API. */
import { nullIfMissing } from '../../../../../platform/errors.ts';
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
import { type FormProblems, attempt } from '../../../parts/form.ts';
import { html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { searchForm } from '../../../parts/search_form.ts';
import { adminListView } from '../admin_list.ts';
import { type FilledTopic, editView, newView, topicLine, topicsPath as path } from './render_topics.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';

const formParams = object({
  name: text(),
  title: optional(clearable(text())),
  description: optional(clearable(text({ maxLength: 1024 }))),
  remove_avatar: boolean({ default: false }),
});

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

type Filled = FilledTopic & { remove_avatar: boolean };

/** The columns of a form: an empty title is the name. */
const toColumns = ({ name, title, description }: FilledTopic) => ({
  name,
  title: title === null || title === undefined || title === '' ? name : title,
  description: description ?? null,
});

const create = page({
  method: 'POST',
  path,
  audience: 'admin',
  params: formParams,
  handle: async (visit, filled) => {
    const { call } = visit;
    const save = async (avatar: { avatar?: string | null }): Promise<number> =>
      await createTopic(call, { ...toColumns(filled), ...avatar });
    const file = visit.file('avatar') ?? undefined;
    const problems = await attempt(async () => await withAvatar(call.platform, file, save));
    return problems === null
      ? redirect(path, `The topic ${filled.name} was created.`)
      : newView(visit, filled, problems);
  },
});

const save = async (visit: Visit, topic: TopicRow, filled: Filled): Promise<FormProblems | null> => {
  const { call } = visit;
  const file = visit.file('avatar') ?? (filled.remove_avatar ? null : undefined);
  const update = async (avatar: { avatar?: string | null }): Promise<void> =>
    await updateTopic(call, topic.id, { ...toColumns(filled), ...avatar });
  return await attempt(async () => await withAvatar(call.platform, file, update));
};

const update = page({
  method: 'POST',
  path: `${path}/:id`,
  audience: 'admin',
  params: object({ id: id(), ...formParams.properties }),
  handle: async (visit, { id: topicId, ...filled }) => {
    const topic = await findTopic(visit.call, topicId);
    const problems = await save(visit, topic, filled);
    return problems === null
      ? redirect(path, 'The topic was saved.')
      : editView(visit, topic, { filled, problems });
  },
});

const missing: FormProblems = { text: null, fields: { target: ['was not found'] } };

const findTarget = async ({ call }: Visit, name: string): Promise<TopicRow | null> => {
  return await nullIfMissing(findTopicByName(call, name.trim()));
};

const merge = page({
  method: 'POST',
  path: `${path}/:id/merge`,
  audience: 'admin',
  params: object({ id: id(), target: optional(text()) }),
  handle: async (visit, { id: topicId, target: typed = '' }) => {
    const topic = await findTopic(visit.call, topicId);
    const target = await findTarget(visit, typed);
    if (target === null) return editView(visit, topic, { target: typed, problems: missing });
    const problems = await attempt(async () => await mergeTopics(visit.call, topic.id, target.id));
    return problems === null
      ? redirect(path, `The topic ${topic.name} was merged into ${target.name}.`)
      : editView(visit, topic, { target: typed, problems });
  },
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
    handle: async (visit) => newView(visit, { name: '' }),
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
