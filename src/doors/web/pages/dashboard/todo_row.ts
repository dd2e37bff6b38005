/** Rows of a to-do list. */
import type { Visit } from '../../page.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { type IconName, icon } from '../../parts/icon.ts';
import { relativeTo } from '../../parts/timestamp.ts';

/** A todo as the API lists it. */
export type ListedTodo = {
  id: number;
  project: { path_with_namespace: string };
  author: { name: string; username: string };
  action_name: string;
  target_type: string;
  target: { iid: number; title: string };
  target_url: string;
  body: string;
  state: string;
  created_at: string;
};

const actions: Record<string, readonly [icon: IconName, text: string]> = {
  assigned: ['user', 'assigned you'],
  mentioned: ['comment', 'mentioned you'],
  directly_addressed: ['comment', 'addressed you'],
  review_requested: ['eye', 'requested your review'],
  approval_required: ['check', 'asked for your approval'],
  unmergeable: ['warning', 'cannot be merged'],
  build_failed: ['cross-circle', 'pipeline failed'],
  marked: ['todo', 'added by you'],
};

/** Names of the actions, used by a filter. */
export const actionNames: Readonly<Record<string, string>> = {
  assigned: 'Assigned',
  mentioned: 'Mentioned',
  directly_addressed: 'Directly addressed',
  review_requested: 'Review requested',
  unmergeable: 'Cannot be merged',
  build_failed: 'Pipeline failed',
  marked: 'Added by you',
};

const ofMachine = new Set(['unmergeable', 'build_failed', 'marked']);

const sentence = ({ action_name, author }: ListedTodo): Html => {
  const [, text] = actions[action_name] ?? ['todo', action_name];
  return ofMachine.has(action_name) ? html`${text}` : html`${author.name} ${text}`;
};

const reference = ({ project, target_type, target }: ListedTodo): string =>
  `${project.path_with_namespace}${target_type === 'Issue' ? '#' : '!'}${target.iid}`;

const maxExcerpt = 160;

/** The comment of a todo; a todo on the target itself repeats its title. */
const excerpt = ({ body, target }: ListedTodo): string | null => {
  const text = body.replaceAll(/\s+/g, ' ').trim();
  if (text === '' || text === target.title) return null;
  return text.length > maxExcerpt ? `${text.slice(0, maxExcerpt).toWellFormed()}…` : text;
};

/** @param back path of the list, to which the form returns */
const stateForm = (visit: Visit, { id, state, target }: ListedTodo, back: string): Html => {
  const [word, label] = state === 'pending' ? ['done', 'Done'] : ['undo', 'Undo'];
  return html`<form method="post" action="/dashboard/todos/${id}/${word}">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('back', back)}<button class="small" aria-label="${label}: ${target.title}"${state === 'pending' && html` data-row-done`}>${label}</button></form>`;
};

const pathOf = (url: string): string => {
  const { pathname, hash } = new URL(url);
  return pathname + hash;
};

const detailPart = (todo: ListedTodo): Html => {
  const text = excerpt(todo);
  return html`${relativeTo(todo.created_at)}${text !== null && html`<span class="clamp">“${text}”</span>`}`;
};

/** Renders the todos of one target below its title. @param back path of the list, to which their forms return */
export const todoGroup = (visit: Visit, todos: readonly ListedTodo[], back: string): Html => {
  const [first] = todos;
  if (first === undefined) return html``;
  const url = new URL(first.target_url).pathname;
  const rows = todos.map((todo) => {
    const [image] = actions[todo.action_name] ?? ['todo'];
    return html`<li><span class="lead status wait">${icon(image)}</span>
<a class="title" href="${pathOf(todo.target_url)}" data-row>${sentence(todo)}</a>
<span class="meta">${detailPart(todo)}</span>
<span class="side">${stateForm(visit, todo, back)}</span></li>
`;
  });
  return html`<section class="todo-group"><h2><a href="${url}">${first.target.title}</a> <span class="muted">${reference(first)}</span></h2><ul class="list">${rows}</ul></section>`;
};

/** Renders a todo by itself. @param back path of the list, to which its form returns */
export const todoRow = (visit: Visit, todo: ListedTodo, back: string): Html => {
  const [image] = actions[todo.action_name] ?? ['todo'];
  return html`<li><span class="lead status wait">${icon(image)}</span>
<a class="title" href="${pathOf(todo.target_url)}" data-row>${todo.target.title}</a>
<span class="meta"><span>${sentence(todo)}</span><span>${reference(todo)}</span>${detailPart(todo)}</span>
<span class="side">${stateForm(visit, todo, back)}</span></li>
`;
};
