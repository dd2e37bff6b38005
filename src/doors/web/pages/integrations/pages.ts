/** Pages of the external issue trackers of a project, with the operations of the API. */
import { notFound } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { boolean, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { configuredIntegrations, loadIntegration } from '../../../../planning/integrations/queries.ts';
import { deleteIntegration, setIntegration } from '../../../../planning/integrations/set_integration.ts';
import { type Slug, secretNames, slugs, trackers } from '../../../../planning/integrations/trackers.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { integrationView, integrationsPath, listProperties } from './form.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const routePath = `${projectRoot}/settings/integrations`;

type Found = { project: Project; slug: Slug };

const administered = async ({ call }: Visit, project: unknown): Promise<Project> =>
  await findProjectFor(call, String(project), 'admin_integration');

/** @throws Failure 404 for an unknown tracker */
const find = async (visit: Visit, { project: fullPath, key }: RawParams): Promise<Found> => {
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
    const content = html`<p>Connect the project with an issue tracker elsewhere. Merge requests then name the issues, such as ABC-12, that they close there. Only one tracker can be active at a time.</p>
<div class="card"><ul class="list">${slugs.map(line)}</ul></div>`;
    return projectView(visit, { project, title: 'Integrations', noun: 'settings/integrations' }, content);
  },
});

const one = { ...projectPath, key: text() };

const show = page({
  method: 'GET',
  path: `${routePath}/:key`,
  audience: 'user',
  params: object(one),
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

const refuse = async (
  visit: Visit,
  { project, slug }: Found,
  sent: RawParams,
  problems: FormProblems,
): Promise<View> => {
  const names = listProperties(slug);
  const typed = [...names, 'active'].filter((name) => sent[name] !== undefined);
  return integrationView({
    visit,
    project,
    slug,
    row: await loadIntegration(visit.call.db, project.id, slug),
    tried: {
      sent: Object.fromEntries(typed.map((name) => [name, fieldText(sent[name])])),
      problems: moveUnknownToText(toField(problems), names),
    },
  });
};

const save = page({
  method: 'POST',
  path: `${routePath}/:key`,
  audience: 'user',
  params: object({ ...one, ...settable }),
  handle: async (visit, { project: fullPath, key, ...sent }) => {
    const found = await find(visit, { project: fullPath, key });
    // An empty secret keeps the stored one.
    const given = Object.entries(sent).filter(
      ([name, value]) => value !== '' || !secretNames.some((secret) => secret === name),
    );
    const problems = await attempt(
      async () => await setIntegration(visit.call, found.project, found.slug, Object.fromEntries(given)),
    );
    if (problems !== null) return await refuse(visit, found, sent, problems);
    return redirect(integrationsPath(found.project), `${trackers[found.slug].title} was saved.`);
  },
  invalid: async (visit, sent, fields) =>
    await refuse(visit, await find(visit, sent), sent, { text: null, fields }),
});

const remove = page({
  method: 'POST',
  path: `${routePath}/:key/delete`,
  audience: 'user',
  params: object(one),
  handle: async (visit, params) => {
    const { project, slug } = await find(visit, params);
    await deleteIntegration(visit.call, project, slug);
    return redirect(integrationsPath(project), `${trackers[slug].title} was removed.`);
  },
});

export const pages = [list, show, save, remove];
