/** Renders the list items and forms of topics. */
import { uploadedAvatarUrl } from '../../../../../identity/avatars/avatar_urls.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import type { TopicRow } from '../../../../../projects/topics/queries.ts';
import type { View, Visit } from '../../../page.ts';
import { avatar } from '../../../parts/avatar.ts';
import { isTicked, readTexts } from '../../../parts/fields/field_text.ts';
import { type FormState, unsent } from '../../../parts/fields/form_page.ts';
import { checkbox, form, input, textArea } from '../../../parts/form.ts';
import { avatarInput } from '../../../parts/fields/avatar_input.ts';
import { type Html, html } from '../../../parts/html.ts';
import { topicPath } from '../../../parts/projects/topic_links.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';

export const topicsPath = '/admin/topics';

const textNames = ['name', 'title', 'description'] as const;

type TopicValues = Record<(typeof textNames)[number], string> & { remove_avatar: boolean };

export type TopicState = FormState<TopicValues>;

const blank: TopicValues = { name: '', title: '', description: '', remove_avatar: false };

const fromRecord = ({ name, title, description }: TopicRow): TopicValues => ({
  ...blank,
  name,
  title,
  description: description ?? '',
});

export const fromSent = (sent: RawParams): TopicValues => ({
  ...readTexts(sent, textNames),
  remove_avatar: isTicked(sent['remove_avatar']),
});

const picture = ({ call }: Visit, topic: TopicRow): Html =>
  avatar({
    name: topic.title,
    avatar_url: uploadedAvatarUrl(call, 'projects/topic', topic),
    size: 'medium',
    isSquare: true,
  });

export const topicLine = (visit: Visit, topic: TopicRow): Html =>
  html`<li><span class="lead">${picture(visit, topic)}</span>
<a class="title" href="${topicsPath}/${topic.id}/edit">${topic.title}</a>
<span class="meta"><span>${topic.name}</span><a href="${topicPath(topic.name)}">${spellCount(topic.total_projects_count, 'project')}</a></span></li>
`;

const fields = ({ values, problems }: TopicState, hasAvatar: boolean): (Html | null)[] => [
  input({
    name: 'name',
    label: 'Name',
    hint: 'As entered in the settings of projects.',
    value: values.name,
    required: true,
    problems,
  }),
  input({
    name: 'title',
    label: 'Title (optional)',
    hint: 'Shown on pages. Default: the name of the topic.',
    value: values.title,
    problems,
  }),
  textArea({
    name: 'description',
    label: 'Description (optional)',
    value: values.description,
    problems,
  }),
  avatarInput(problems, false),
  hasAvatar
    ? checkbox({ name: 'remove_avatar', label: 'Remove the picture', checked: values.remove_avatar })
    : null,
];

/** Renders the form of a new topic. */
export const newView = (visit: Visit, state: TopicState = unsent(blank)): View =>
  adminView(
    { path: topicsPath, title: 'New topic' },
    form(
      visit,
      { action: topicsPath, submit: 'Create topic', hasFiles: true, problems: state.problems },
      ...fields(state, false),
    ),
  );

type MergeState = FormState<{ target: string }>;

const mergeForm = (visit: Visit, { id }: TopicRow, { values, problems }: MergeState): Html =>
  form(
    visit,
    {
      action: `${topicsPath}/${id}/merge`,
      submit: 'Merge topic',
      danger: true,
      problems,
    },
    input({
      name: 'target',
      label: 'Into the topic',
      hint: 'Projects with this topic get the other one, and this one is deleted.',
      value: values.target,
      required: true,
      autocomplete: 'off',
      suggestions: { url: '/api/v4/topics?per_page=100', field: 'name', search: 'search' },
      problems,
    }),
  );

/** Renders the forms that change, merge and delete a topic. */
export const editView = (
  visit: Visit,
  topic: TopicRow,
  {
    edit = unsent(fromRecord(topic)),
    merge = unsent({ target: '' }),
  }: { edit?: TopicState; merge?: MergeState } = {},
): View => {
  const change = form(
    visit,
    { action: `${topicsPath}/${topic.id}`, submit: 'Save changes', hasFiles: true, problems: edit.problems },
    ...fields(edit, topic.avatar !== null),
  );
  const removal = form(visit, {
    action: `${topicsPath}/${topic.id}/delete`,
    submit: 'Delete topic',
    danger: true,
  });
  const content = html`${change}
<h2>Merge</h2>
${mergeForm(visit, topic, merge)}
<h2>Delete</h2>
<p>${topic.total_projects_count === 0 ? 'No project has the topic.' : `${spellCount(topic.total_projects_count, 'project')} will lose the topic.`}</p>
${removal}`;
  return adminView({ path: topicsPath, title: `Topic ${topic.name}` }, content);
};
