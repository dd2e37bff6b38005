/** The list of a project's deploy keys, with the form that adds one. */
import { type PageRequest, pageRequest } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { DeployKeyRow } from '../../../../projects/deploy_keys/json.ts';
import {
  type ReusableKey,
  listProjectKeys,
  listReusableKeys,
} from '../../../../projects/deploy_keys/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { isTicked, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { checkbox, form, input, textArea } from '../../parts/form.ts';
import { noProblems } from '../../parts/form_problems.ts';
import { button, projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { moment, relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import type { View, Visit } from '../../page.ts';
import { lastUse } from '../tokens/token_form.ts';

/** Keys of other projects that the page offers. */
const maxReusable = 50;

type KeyValues = { title: string; key: string; expires_at: string; can_push: boolean };

const blank: KeyValues = { title: '', key: '', expires_at: '', can_push: false };

const fromRecord = ({ title, can_push }: DeployKeyRow): KeyValues => ({
  ...blank,
  title,
  can_push: can_push === 1,
});

export const fromSent = (sent: RawParams): KeyValues => ({
  ...readTexts(sent, ['title', 'key', 'expires_at']),
  can_push: isTicked(sent['can_push']),
});

/** A refused form: of which key (null: the form that adds one). */
export type RefusedForm = FormState<KeyValues> & { keyId: number | null };

export const keysPath = (project: Project): string => projectPagePath(project, 'deploy_keys');

type ListContext = { visit: Visit; project: Project; refused: RefusedForm | null };

const pushBox = (id: string, isOn: boolean): Html =>
  checkbox({
    name: 'can_push',
    id: `can_push_${id}`,
    label: 'Allow pushing',
    hint: 'Holders of the private key can change the repository, not only read it.',
    checked: isOn,
  });

const addForm = ({ visit, project, refused }: ListContext): Html => {
  const { values, problems } = refused?.keyId === null ? refused : unsent(blank);
  return form(
    visit,
    { action: keysPath(project), submit: 'Add key', problems },
    textArea({
      name: 'key',
      label: 'Key',
      hint: 'The public one, in one line, such as the content of id_ed25519.pub.',
      value: values.key,
      rows: 3,
      problems,
    }),
    html`<div class="field-row">${input({
      name: 'title',
      label: 'Title (optional)',
      value: values.title,
      problems,
    })}${input({
      name: 'expires_at',
      label: 'Expires on (optional)',
      type: 'date',
      value: values.expires_at,
      problems,
    })}</div>`,
    pushBox('new', values.can_push),
  );
};

const editForms = ({ visit, project, refused }: ListContext, key: DeployKeyRow): Html => {
  const { values, problems } = refused?.keyId === key.id ? refused : unsent(fromRecord(key));
  const path = `${keysPath(project)}/${key.id}`;
  const change = form(
    visit,
    { action: path, submit: 'Save', name: `Save ${key.title}`, problems },
    input({
      name: 'title',
      id: `title_${key.id}`,
      label: 'Title',
      value: values.title,
      required: true,
      problems,
    }),
    pushBox(String(key.id), values.can_push),
  );
  const removal = form(visit, {
    action: `${path}/delete`,
    submit: 'Remove from the project',
    name: `Remove ${key.title} from the project`,
    danger: true,
  });
  return html`<details${problems !== noProblems && html` open`}><summary>Edit<span class="visually-hidden"> ${key.title}</span></summary>
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
  }<span>last used: ${lastUse(key)}</span></span>
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
  return html`<section class="card" aria-labelledby="reusable_title"><header><h2 id="reusable_title">Keys of your other projects and of the instance</h2></header>
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

/** Renders the page. @param refused null: no form was */
export const keysView = async (
  visit: Visit,
  project: Project,
  query: ListQuery,
  refused: RefusedForm | null = null,
): Promise<View> => {
  const page = pageRequest(query);
  const { items, total } = await listProjectKeys(visit.call.db, project.id, page);
  const context = { visit, project, refused };
  const isOfKey = refused !== null && refused.keyId !== null;
  const content = html`<p>A deploy key is an SSH key that gives access to this project instead of to an account.</p>
${isOfKey && html`<p class="flash alert">Nothing was saved. Correct the form below.</p>`}
<section class="card" aria-labelledby="add_title"><header><h2 id="add_title">Add a deploy key</h2></header>
<div class="body">${addForm(context)}</div></section>
${listCard(context, items, total, page)}
${await reusablePart(context)}`;
  return projectView(visit, { project, title: 'Deploy keys', noun: 'deploy_keys' }, content);
};
