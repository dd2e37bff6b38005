/** Renders the list items and forms of topics. */
import { uploadedAvatarUrl } from '../../../../../identity/avatars/avatar_urls.ts';
import type { TopicRow } from '../../../../../projects/topics/queries.ts';
import type { View, Visit } from '../../../page.ts';
import { avatar } from '../../../parts/avatar.ts';
import {
  type FormProblems,
  checkbox,
  form,
  input,
  noProblems,
  textArea,
  withFormStatus,
} from '../../../parts/form.ts';
import { avatarInput } from '../../../parts/fields/avatar_input.ts';
import { type Html, html } from '../../../parts/html.ts';
import { topicPath } from '../../../parts/projects/topic_links.ts';
import { spellCount } from '../../../parts/spell_count.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';

export const topicsPath = '/admin/topics';

export type FilledTopic = { name: string; title?: string | null; description?: string | null };

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

const fields = (filled: FilledTopic, problems: FormProblems, hasAvatar: boolean): (Html | null)[] => [
  input({
    name: 'name',
    label: 'Name',
    hint: 'As entered in the settings of projects.',
    value: filled.name,
    required: true,
    problems,
  }),
  input({
    name: 'title',
    label: 'Title (optional)',
    hint: 'Shown on pages. Default: the name of the topic.',
    value: filled.title ?? null,
    problems,
  }),
  textArea({
    name: 'description',
    label: 'Description (optional)',
    value: filled.description ?? null,
    problems,
  }),
  avatarInput(problems, false),
  hasAvatar ? checkbox({ name: 'remove_avatar', label: 'Remove the picture', checked: false }) : null,
];

/** Renders the form of a new topic. */
export const newView = (visit: Visit, filled: FilledTopic, problems = noProblems): View =>
  withFormStatus(
    adminView(
      { path: topicsPath, title: 'New topic' },
      form(
        visit,
        { action: topicsPath, submit: 'Create topic', hasFiles: true, problems },
        ...fields(filled, problems, false),
      ),
    ),
    problems,
  );

type Tried = { filled?: FilledTopic; target?: string; problems?: FormProblems };

const mergeForm = (visit: Visit, { id }: TopicRow, target: string, problems: FormProblems): Html =>
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
      value: target,
      required: true,
      autocomplete: 'off',
      suggestions: { url: '/api/v4/topics?per_page=100', field: 'name', search: 'search' },
      problems,
    }),
  );

/** Renders the forms that change, merge and delete a topic. @param tried input and problems of a refused form */
export const editView = (visit: Visit, topic: TopicRow, tried: Tried = {}): View => {
  const { target, problems = noProblems } = tried;
  const ofTopic = target === undefined ? problems : noProblems;
  const ofMerge = target === undefined ? noProblems : problems;
  const change = form(
    visit,
    { action: `${topicsPath}/${topic.id}`, submit: 'Save changes', hasFiles: true, problems: ofTopic },
    ...fields(tried.filled ?? topic, ofTopic, topic.avatar !== null),
  );
  const removal = form(visit, {
    action: `${topicsPath}/${topic.id}/delete`,
    submit: 'Delete topic',
    danger: true,
  });
  const content = html`${change}
<h2>Merge</h2>
${mergeForm(visit, topic, target ?? '', ofMerge)}
<h2>Delete</h2>
<p>${topic.total_projects_count === 0 ? 'No project has the topic.' : `${spellCount(topic.total_projects_count, 'project')} will lose the topic.`}</p>
${removal}`;
  return withFormStatus(adminView({ path: topicsPath, title: `Topic ${topic.name}` }, content), problems);
};
