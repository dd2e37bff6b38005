/** Pages of the integrations of a project, and those of its external issue trackers, with the operations of the API. */
import { notFound } from '../../../../platform/errors.ts';
import { boolean, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { listIntegrationHooks } from '../../../../outgoing/hooks/queries.ts';
import { type ChatSlug, chatSlugs, chats } from '../../../../outgoing/integrations/chats.ts';
import { configuredIntegrations, loadIntegration } from '../../../../planning/integrations/queries.ts';
import { deleteIntegration, setIntegration } from '../../../../planning/integrations/set_integration.ts';
import {
  type Slug,
  secretNames,
  slugs,
  trackers,
  listProperties,
} from '../../../../planning/integrations/trackers.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { stateBadge } from '../hooks/delivery_status.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { chatPages } from './chat_pages.ts';
import { integrationView, integrationsPath } from './form.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';

const routePath = `${projectRoot}/settings/integrations`;

type Found = { project: Project; slug: Slug };

const administered = async ({ call }: Visit, project: string): Promise<Project> =>
  await findProjectFor(call, project, 'admin_integration');

type Address = { project: string; key: string };

/** @throws Failure 404 for an unknown tracker */
const find = async (visit: Visit, { project: fullPath, key }: Address): Promise<Found> => {
  const project = await administered(visit, fullPath);
  const slug = slugs.find((one) => one === key);
  if (slug === undefined) throw notFound('Integration');
  return { project, slug };
};

const list = page({
  method: 'GET',
  path: routePath,
  audience: 'user',
  params: object(projectPath),
  handle: async (visit, { project: fullPath }) => {
    const project = await administered(visit, fullPath);
    const rows = await configuredIntegrations(visit.call.db, project.id);
    const path = integrationsPath(project);
    const line = (slug: Slug) => {
      const row = rows.find((one) => one.slug === slug);
      const active = html`<span class="status ok">${icon('check')} Active</span>`;
      const inactive = html`<span class="status off">${icon('circle')} ${row === undefined ? 'Not set up' : 'Inactive'}</span>`;
      return html`<li>
<span class="lead">${icon('link')}</span>
<span class="title"><a href="${path}/${slug}">${trackers[slug].title}</a></span>
<span class="side">${row?.active === 1 ? active : inactive}</span></li>
`;
    };
    const hooks = await listIntegrationHooks(visit.call.db, { type: 'project', id: project.id });
    const chatLine = (slug: ChatSlug) => {
      const hook = hooks.find(({ integration }) => integration === slug);
      const missing = html`<span class="status off">${icon('circle')} Not set up</span>`;
      return html`<li>
<span class="lead">${icon('comment')}</span>
<span class="title"><a href="${path}/${slug}">${chats[slug].title}</a></span>
<span class="side">${hook === undefined ? missing : stateBadge(hook, visit.call.now)}</span></li>
`;
    };
    const content = html`<h2>Issue trackers</h2>
<p>Connect the project with an issue tracker elsewhere. Merge requests then name the issues, such as ABC-12, that they close there. Only one tracker can be active at a time.</p>
<div class="card"><ul class="list">${slugs.map(line)}</ul></div>
<h2>Chats</h2>
<p>Send messages about the project to a channel.</p>
<div class="card"><ul class="list">${chatSlugs.map(chatLine)}</ul></div>`;
    return projectView(visit, { project, title: 'Integrations', noun: 'settings/integrations' }, content);
  },
});

const integrationParams = { ...projectPath, key: text() };

const show = page({
  method: 'GET',
  path: `${routePath}/:key`,
  audience: 'user',
  params: object(integrationParams),
  handle: async (visit, params) => {
    const { project, slug } = await find(visit, params);
    const row = await loadIntegration(visit.call.db, project.id, slug);
    return integrationView({ visit, project, slug, row, tried: null });
  },
});

const url = optional(text({ maxLength: 2_048 }));

const settable = {
  url,
  api_url: url,
  project_url: url,
  issues_url: url,
  new_issue_url: url,
  username: optional(text()),
  password: optional(text()),
  project_key: optional(text()),
  jira_issue_transition_id: optional(text()),
  title: optional(text()),
  description: optional(longText()),
  active: optional(boolean()),
};

/** The API names a missing property in its message. */
const toField = (problems: FormProblems): FormProblems => {
  const [, name] = /"(\w+)" not given$/.exec(problems.text ?? '') ?? [];
  return name === undefined ? problems : { text: null, fields: { [name]: ["can't be blank"] } };
};

const save = formPage({
  path: `${routePath}/:key`,
  audience: 'user',
  address: integrationParams,
  fields: settable,
  find,
  fromSent: (sent, { slug }) => {
    const typed = [...listProperties(slug), 'active'].filter((name) => sent[name] !== undefined);
    return readTexts(sent, typed);
  },
  run: async ({ call }, { project, slug }, { project: _path, key: _key, ...sent }) => {
    // An empty secret keeps the stored one.
    const settings = Object.entries(sent).filter(
      ([name, value]) => value !== '' || !secretNames.some((secret) => secret === name),
    );
    await setIntegration(call, project, slug, Object.fromEntries(settings));
    return redirect(integrationsPath(project), `${trackers[slug].title} was saved.`);
  },
  view: async (visit, { project, slug }, { values: sent, problems }) => {
    const row = await loadIntegration(visit.call.db, project.id, slug);
    const placed = moveUnknownToText(toField(problems), listProperties(slug));
    return integrationView({ visit, project, slug, row, tried: { sent, problems: placed } });
  },
});

const remove = page({
  method: 'POST',
  path: `${routePath}/:key/delete`,
  audience: 'user',
  params: object(integrationParams),
  handle: async (visit, params) => {
    const { project, slug } = await find(visit, params);
    await deleteIntegration(visit.call, project, slug);
    return redirect(integrationsPath(project), `${trackers[slug].title} was removed.`);
  },
});

export const pages = [list, show, save, remove, ...chatPages];
