/** The form of one integration. */
import type { IntegrationRow } from '../../../../planning/integrations/json.ts';
import { storedProperties } from '../../../../planning/integrations/json.ts';
import {
  type PropertyName,
  type Slug,
  secretNames,
  trackers,
  listProperties,
} from '../../../../planning/integrations/trackers.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { checkbox, form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import type { View, Visit } from '../../page.ts';

/** A refused form: its input and problems. */
export type Tried = { sent: Readonly<Record<string, string>>; problems: FormProblems };

type Words = { label: string; hint?: string };

const propertyWords: { [P in PropertyName]: Words } = {
  url: { label: 'Web address', hint: 'Such as https://jira.example.com.' },
  api_url: { label: 'Address of the API', hint: 'Only if it differs from the web address.' },
  username: { label: 'User name' },
  password: { label: 'Password or token', hint: 'Stored encrypted, and never shown again.' },
  project_key: { label: 'Project key' },
  jira_issue_transition_id: { label: 'Transition IDs' },
  project_url: { label: 'Address of the project' },
  issues_url: { label: 'Address of an issue', hint: 'Use :id as placeholder for the number.' },
  new_issue_url: { label: 'Address for a new issue' },
  title: { label: 'Title' },
  description: { label: 'Description' },
};

export const integrationsPath = (project: Project): string =>
  projectPagePath(project, 'settings/integrations');

type FormContext = {
  visit: Visit;
  project: Project;
  slug: Slug;
  row: IntegrationRow | undefined;
  tried: Tried | null;
};

const propertyField = ({ slug, row, tried }: FormContext, name: PropertyName): Html => {
  const { label, hint } = propertyWords[name];
  const isSecret = secretNames.includes(name);
  const stored = row === undefined ? {} : storedProperties(row);
  const isKept = isSecret && stored[name] !== undefined;
  const isRequired = trackers[slug].required.includes(name);
  return input({
    name,
    label: isRequired ? label : `${label} (optional)`,
    ...(hint !== undefined && { hint: isKept ? 'Stored. Leave it empty to keep it.' : hint }),
    type: isSecret ? 'password' : 'text',
    ...(isSecret && { autocomplete: 'off' }),
    value: isSecret ? '' : (tried?.sent[name] ?? stored[name] ?? ''),
    required: isRequired && !isKept,
    problems: tried?.problems ?? noProblems,
  });
};

const removalCard = ({ visit, project, slug }: FormContext): Html => {
  const { title } = trackers[slug];
  const removal = form(visit, {
    action: `${integrationsPath(project)}/${slug}/delete`,
    submit: 'Remove integration',
    danger: true,
  });
  return html`<section class="card danger-zone" aria-labelledby="remove_title"><header><h2 id="remove_title">Remove integration</h2></header>
<div class="body stack"><p>Disconnects ${title} and deletes its stored settings, including the password.</p>${removal}</div></section>`;
};

/** Renders the page of one integration. */
export const integrationView = (context: FormContext): View => {
  const { visit, project, slug, row, tried } = context;
  const { title } = trackers[slug];
  const isActive = tried === null ? row === undefined || row.active === 1 : tried.sent['active'] !== '0';
  const fields = form(
    visit,
    {
      action: `${integrationsPath(project)}/${slug}`,
      submit: 'Save changes',
      problems: tried?.problems ?? noProblems,
    },
    checkbox({ name: 'active', label: 'Active', checked: isActive }),
    ...listProperties(slug).map((name) => propertyField(context, name)),
  );
  const content = html`<p><a href="${integrationsPath(project)}">All integrations</a></p>
<section class="card" aria-labelledby="connection_title"><header><h2 id="connection_title">Connection</h2></header>
<div class="body">${fields}</div></section>
${row !== undefined && removalCard(context)}`;
  const view = projectView(visit, { project, title, noun: 'settings/integrations' }, content);
  return withFormStatus(view, tried?.problems ?? noProblems);
};
