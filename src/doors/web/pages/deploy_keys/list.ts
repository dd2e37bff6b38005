/** The list of a project's deploy keys, with the form that adds one. */
import { type PageRequest, pageRequest } from '../../../../platform/http/page.ts';
import type { DeployKeyRow } from '../../../../projects/deploy_keys/json.ts';
import {
  type ReusableKey,
  listProjectKeys,
  listReusableKeys,
} from '../../../../projects/deploy_keys/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type FormProblems, checkbox, form, input, noProblems, textArea } from '../../parts/form.ts';
import { button, projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { moment, relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import type { View, Visit } from '../../page.ts';

/** Keys of other projects that the page offers. */
const maxReusable = 50;

/** A refused form: its key (null for the form that adds a key), its input and problems. */
export type Tried = {
  keyId: number | null;
  sent: Readonly<Record<string, string>>;
  problems: FormProblems;
};

export const keysPath = (project: Project): string => projectPagePath(project, 'deploy_keys');

type ListContext = { visit: Visit; project: Project; tried: Tried | null };

const pushBox = (id: string, isOn: boolean): Html =>
  checkbox({
    name: 'can_push',
    id: `can_push_${id}`,
    label: 'Allow pushing',
    hint: 'Holders of the private key can change the repository, not only read it.',
    checked: isOn,
  });

const addForm = ({ visit, project, tried }: ListContext): Html => {
  const { sent, problems } =
    tried?.keyId === null ? tried : { sent: {} as Tried['sent'], problems: noProblems };
  return form(
    visit,
    { action: keysPath(project), submit: 'Add key', problems },
    textArea({
      name: 'key',
      label: 'Key',
      hint: 'The public one, in one line, such as the content of id_ed25519.pub.',
      value: sent['key'] ?? '',
      rows: 3,
      problems,
    }),
    html`<div class="field-row">${input({
      name: 'title',
      label: 'Title (optional)',
      value: sent['title'] ?? '',
      problems,
    })}${input({
      name: 'expires_at',
      label: 'Expires on (optional)',
      type: 'date',
      value: sent['expires_at'] ?? '',
      problems,
    })}</div>`,
    pushBox('new', sent['can_push'] === '1'),
  );
};

const editForms = ({ visit, project, tried }: ListContext, key: DeployKeyRow): Html => {
  const refused = tried?.keyId === key.id ? tried : null;
  const { sent = {}, problems = noProblems } = refused ?? {};
  const path = `${keysPath(project)}/${key.id}`;
  const isOn = sent['can_push'] === undefined ? key.can_push === 1 : sent['can_push'] === '1';
  const change = form(
    visit,
    { action: path, submit: 'Save', name: `Save ${key.title}`, problems },
    input({
      name: 'title',
      id: `title_${key.id}`,
      label: 'Title',
      value: sent['title'] ?? key.title,
      required: true,
      problems,
    }),
    pushBox(String(key.id), isOn),
  );
  const removal = form(visit, {
    action: `${path}/delete`,
    submit: 'Remove from the project',
    name: `Remove ${key.title} from the project`,
    danger: true,
  });
  return html`<details${refused !== null && html` open`}><summary>Edit<span class="visually-hidden"> ${key.title}</span></summary>
<div class="stack">${change}<p>Once removed, the key no longer gives access to this project. Other projects keep it.</p>${removal}</div></details>`;
};

const line = (context: ListContext, key: DeployKeyRow): Html => {
  const { title, fingerprint_sha256, can_push, created_at, expires_at } = key;
  const isOver = expires_at !== null && expires_at <= context.visit.call.now;
  return html`<li>
<span class="lead">${icon('key')}</span>
<span class="title">${title}${isOver && html` <span class="badge">Expired</span>`}</span>
<span class="meta"><code>SHA256:${fingerprint_sha256}</code><span>added ${relative(created_at)}</span>${
    expires_at !== null && html`<span>expires ${moment(expires_at)}</span>`
  }</span>
<span class="side"><strong>${can_push === 1 ? 'Read and write' : 'Read only'}</strong></span>
${editForms(context, key)}</li>
`;
};

const reusableLine = (
  { visit, project }: ListContext,
  { id, title, fingerprint_sha256 }: ReusableKey,
): Html => html`<li>
<span class="lead">${icon('key')}</span>
<span class="title">${title}</span>
<span class="meta"><code>SHA256:${fingerprint_sha256}</code></span>
<span class="side">${button(visit, `${keysPath(project)}/${id}/enable`, { label: 'Enable', name: `Enable ${title}` })}</span></li>
`;

const reusablePart = async (context: ListContext): Promise<Html | null> => {
  const keys = await listReusableKeys(context.visit.call, context.project.id, maxReusable);
  if (keys.length === 0) return null;
  return html`<section class="card" aria-labelledby="reusable_title"><header><h2 id="reusable_title">Keys of your other projects</h2></header>
<ul class="list">${keys.map((key) => reusableLine(context, key))}</ul></section>
<p class="quiet">An enabled key may read this project.</p>`;
};

export type ListQuery = { page?: number; per_page?: number };

const listCard = (
  context: ListContext,
  keys: readonly DeployKeyRow[],
  total: number,
  page: PageRequest,
): Html => {
  if (keys.length === 0) {
    const text = 'Servers that only need this project can use a key of their own instead of an account.';
    return html`<div class="card">${emptyState({ icon: 'key', title: 'No deploy keys', text })}</div>`;
  }
  return html`<div class="card"><ul class="list">${keys.map((key) => line(context, key))}</ul></div>
${pagesNav({ path: keysPath(context.project), query: {}, page, total })}`;
};

/** Renders the page. @param tried null: nothing was refused */
export const keysView = async (
  visit: Visit,
  project: Project,
  query: ListQuery,
  tried: Tried | null = null,
): Promise<View> => {
  const page = pageRequest(query);
  const { items, total } = await listProjectKeys(visit.call.db, project.id, page);
  const context = { visit, project, tried };
  const isOfKey = tried !== null && tried.keyId !== null;
  const content = html`<p>A deploy key is an SSH key that gives access to this project instead of to an account.</p>
${isOfKey && html`<p class="flash alert">Nothing was saved. Correct the form below.</p>`}
<section class="card" aria-labelledby="add_title"><header><h2 id="add_title">Add a deploy key</h2></header>
<div class="body">${addForm(context)}</div></section>
${listCard(context, items, total, page)}
${await reusablePart(context)}`;
  const view = projectView(visit, { project, title: 'Deploy keys', noun: 'deploy_keys' }, content);
  return tried === null ? view : { ...view, status: 422 };
};
