/** Sections of settings pages: each is a form that saves only its own fields, by the operation of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import { object } from '../../../../platform/http/schema.ts';
import { readProjectInput, projectParams } from '../../../../projects/projects/fields.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { updateProject } from '../../../../projects/projects/update.ts';
import { form } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { baseField } from '../../parts/fields/guard_edits.ts';
import { type Html, html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { type SectionPart, controlsIn, renderParts } from './controls.ts';
import { type Tried, checkSection, sectionGuardParts } from './section_guard.ts';
import { toVisibilityProblem } from '../../parts/fields/visibility.ts';

type SettingsNoun = 'settings' | 'settings/merge_requests' | 'settings/ci_cd';

/** The values of the fields of a section: stored values, or refused input. */
export type Shown = {
  visit: Visit;
  project: Project;
  text: (name: string) => string;
  isOn: (name: string) => boolean;
  problems: FormProblems;
};

export type Section = {
  /** Part of the address of the form, and anchor of the section. */
  key: string;
  title: string;
  /** Shown above the fields. */
  intro?: string;
  /** The parameters of the API that the form sets. */
  names: readonly (keyof typeof projectParams)[];
  saved: string;
  /** Text of its button. Default: Save changes. */
  submit?: string;
  /** Shown only to users with this permission. */
  action?: ProjectAction;
  /** Stored values that are not columns of the project. */
  load?: (call: Call, project: Project) => Promise<Record<string, unknown>>;
  /** The fields are side by side. */
  isPaired?: true;
  fields: (shown: Shown) => Promise<readonly (SectionPart | null)[]> | readonly (SectionPart | null)[];
};

/** Converts a stored, parsed or sent value to the text of its field. A ticked checkbox sends its hidden 0 first. */
const toText = (value: unknown): string => {
  if (Array.isArray(value)) return value[0] === '0' ? toText(value.at(-1)) : value.join(', ');
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

const schemasOf = ({ names }: Section) =>
  Object.fromEntries(names.map((name) => [name, projectParams[name]]));

/** Renders a card with a heading. */
export const sectionCard = (
  { key, title, isDanger = false }: { key: string; title: string; isDanger?: boolean },
  content: Html,
): Html => html`<section class="card${isDanger && ' danger-zone'}" id="${key}_section" aria-labelledby="${key}_title">
<header><h2 id="${key}_title">${title}</h2></header>
<div class="body">${content}</div>
</section>
`;

/** Renders the refusal at the top of the page, with a link to the section that needs another input. */
export const refusal = (key: string, title: string): Html =>
  html`<p class="flash alert">Nothing was saved. Correct <a href="#${key}_section">${title}</a>.</p>
`;

export type SettingsContext = { visit: Visit; project: Project; tried: Tried | null };

const sectionPart = async (
  { visit, project, tried }: SettingsContext,
  path: string,
  section: Section,
): Promise<Html> => {
  const { key, title, intro, load, fields } = section;
  const refused = tried?.key === key ? tried : null;
  const stored: Record<string, unknown> = { ...project, ...(await load?.(visit.call, project)) };
  const text = (name: string): string => toText(refused?.sent[name] ?? stored[name]);
  const problems = refused?.problems ?? noProblems;
  const parts = await fields({ visit, project, text, isOn: (name) => text(name) === '1', problems });
  const shown = parts.filter((part) => part !== null);
  const compared = { schemas: schemasOf(section), controls: controlsIn(shown) };
  const guard = sectionGuardParts(compared, stored, refused, path);
  const submit = guard.card === null ? (section.submit ?? guard.submit) : guard.submit;
  const rendered = renderParts(shown);
  const body = section.isPaired === true ? [html`<div class="pairs">${rendered}</div>`] : rendered;
  const content = form(visit, { action: `${path}/${key}`, submit, problems }, ...body, guard.base);
  return sectionCard(
    { key, title },
    html`${intro !== undefined && html`<p class="hint">${intro}</p>`}${content}${guard.card}`,
  );
};

export type SettingsPage = {
  noun: SettingsNoun;
  title: string;
  action: ProjectAction;
  sections: readonly Section[];
  /** A card after the first section. */
  second?: (context: SettingsContext) => Html;
  /** Further content below the sections. */
  more?: (context: SettingsContext) => Promise<Html | null>;
};

/** Renders a settings page. @param tried null: nothing was refused */
export const settingsView = async (
  { noun, title, sections, second, more }: SettingsPage,
  { visit, project, tried }: SettingsContext,
): Promise<View> => {
  const path = projectPagePath(project, noun);
  const allowed = sections.filter(
    ({ action }) => action === undefined || may(visit.call.viewer, action, project),
  );
  const context = { visit, project, tried };
  const parts: Html[] = [];
  for (const section of allowed) parts.push(await sectionPart(context, path, section));
  if (second !== undefined) parts.splice(1, 0, second(context));
  const refused = sections.find(({ key }) => key === tried?.key);
  const content = html`${refused !== undefined && refusal(refused.key, refused.title)}${parts}${await more?.(context)}`;
  const view = projectView(visit, { project, title, noun }, content);
  return withFormStatus(view, tried?.problems ?? noProblems);
};

const savePage = (settings: SettingsPage, section: Section): AnyPage => {
  const { key, names, saved } = section;
  return formPage({
    path: `${projectRoot}/${settings.noun}/${key}`,
    audience: 'user',
    address: projectPath,
    fields: { ...schemasOf(section), ...baseField },
    find: async ({ call }, { project }) => await findProjectFor(call, project, settings.action),
    fromSent: (sent) => sent,
    toProblems: (problems) => moveUnknownToText(toVisibilityProblem(problems), names),
    run: async ({ call }, project, { project: _path, base: _base, ...params }, sent) => {
      const edit = readProjectInput(params);
      const check = checkSection(schemasOf(section), sent, edit);
      await updateProject(call, project, { ...edit, ...check });
      return redirect(projectPagePath(project, settings.noun), saved);
    },
    view: async (visit, project, { values: sent, problems }) =>
      await settingsView(settings, { visit, project, tried: { key, sent, problems } }),
  });
};

/** Returns the page and the handlers of its forms. */
export const settingsPages = (settings: SettingsPage): AnyPage[] => [
  page({
    method: 'GET',
    path: `${projectRoot}/${settings.noun}`,
    audience: 'user',
    params: object(projectPath),
    handle: async (visit, { project: fullPath }) => {
      const project = await findProjectFor(visit.call, fullPath, settings.action);
      return await settingsView(settings, { visit, project, tried: null });
    },
  }),
  ...settings.sections.map((section) => savePage(settings, section)),
];
