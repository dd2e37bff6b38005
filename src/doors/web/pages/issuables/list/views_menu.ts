/** The menu of a list's saved views: links to them, and forms that save, rename, replace and delete one. */
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import {
  type SavedView,
  type ViewedList,
  listSavedViews,
  maxViews,
} from '../../../../../planning/saved_views/saved_views.ts';
import type { Visit } from '../../../page.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { hidden, input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { type AddressQuery, addressOf } from './filter_chips.ts';

/** Where the forms are sent. */
const root = '/-/saved_views';

const toViewedList = (scope: Scope, kind: ViewedList['kind']): ViewedList => {
  if (scope === 'everywhere') return { kind };
  return 'project' in scope ? { kind, project_id: scope.project.id } : { kind, group_id: scope.group_id };
};

type ShownList = {
  scope: Scope;
  kind: ViewedList['kind'];
  /** Address of the list, without a query. */
  path: string;
  /** Filters, state and order of the list. */
  query: AddressQuery;
};

const nameForm = (
  visit: Visit,
  { action, value, submit, id }: { action: string; value: string; submit: string; id: string },
  fields: Html,
): Html =>
  html`<form method="post" action="${action}" class="filter-fields">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${fields}${input({ name: 'name', id, label: 'Name of the view', value, required: true, autocomplete: 'off' })}<div class="buttons"><button class="primary small">${submit}</button></div></form>`;

const saveForm = (visit: Visit, list: ViewedList, { path, query }: { path: string; query: string }): Html => {
  const { kind, project_id, group_id } = list;
  const fields = html`${hidden('kind', kind)}${project_id !== undefined && hidden('project_id', project_id)}${
    group_id !== undefined && hidden('group_id', group_id)
  }${hidden('query', query)}${hidden('back', path)}`;
  return nameForm(visit, { action: root, value: '', submit: 'Save this view', id: 'new_view' }, fields);
};

const changeForms = (visit: Visit, view: SavedView, path: string): Html => {
  const action = `${root}/${view.id}`;
  const back = `${path}?${view.query}`;
  const rename = { action, value: view.name, submit: 'Rename', id: 'view_name' };
  return html`${nameForm(visit, rename, hidden('back', back))}${button(
    visit,
    `${action}/delete?${new URLSearchParams({ back }).toString()}`,
    { label: `Delete the view ${view.name}` },
  )}`;
};

/** Replaces the filter of a view, which keeps its name. */
const replaceForm = (
  visit: Visit,
  views: readonly SavedView[],
  { path, query }: { path: string; query: string },
): Html | null => {
  if (views.length === 0) return null;
  const view = select({
    name: 'id',
    id: 'replaced_view',
    label: 'View to replace with this filter',
    value: null,
    options: views.map(({ id, name }) => [String(id), name] as const),
  });
  return html`<form method="post" action="${root}/replace" class="filter-fields">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('query', query)}${hidden('back', path)}${view}<div class="buttons"><button class="small">Replace this view</button></div></form>`;
};

/** Renders the menu; null for anonymous visitors. */
export const viewsMenu = async (
  visit: Visit,
  { scope, kind, path, query }: ShownList,
): Promise<Html | null> => {
  if (!visit.call.signedIn) return null;
  const list = toViewedList(scope, kind);
  const views = await listSavedViews(visit.call, list);
  const [, now = ''] = addressOf(path, query).split('?');
  const current = views.find((view) => view.query === now);
  const links = views.map(
    (view) =>
      html`<a href="${view.query === '' ? path : `${path}?${view.query}`}"${view === current && html` aria-current="true"`}>${view.name}</a>`,
  );
  const forms =
    current !== undefined
      ? changeForms(visit, current, path)
      : html`${views.length < maxViews && saveForm(visit, list, { path, query: now })}${replaceForm(visit, views, { path, query: now })}`;
  return menu(
    {
      summary: html`${icon('eye')} ${current?.name ?? 'Views'} ${icon('chevron-down')}`,
      classes: 'button',
    },
    html`${links}${forms}`,
  );
};
