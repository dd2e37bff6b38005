/** The list of rules for protected branches or tags, with the form that adds one. */
import { may } from '../../../../core/access/may.ts';
import { levels } from '../../../../core/access/levels.ts';
import { type PageRequest, pageRequest } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { fieldText, isTicked, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { type EditGuard, guardEdits } from '../../parts/fields/guard_edits.ts';
import { checkbox, form, hidden, input, select } from '../../parts/form.ts';
import { noProblems } from '../../parts/form_problems.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import type { View, Visit } from '../../page.ts';
import type { Kind, Rule } from './rule_kinds.ts';
import { type Coverage, loadCoverage } from './rule_coverage.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const textNames = ['name', 'push_access_level', 'merge_access_level', 'create_access_level'] as const;

type RuleValues = Record<(typeof textNames)[number], string> & { allow_force_push: boolean };

const master = String(levels.master);

const blank: RuleValues = {
  name: '',
  push_access_level: master,
  merge_access_level: master,
  create_access_level: master,
  allow_force_push: false,
};

const fromRecord = (rule: Rule): RuleValues => ({
  name: rule.name,
  push_access_level: fieldText(rule.push_access_level),
  merge_access_level: fieldText(rule.merge_access_level),
  create_access_level: fieldText(rule.create_access_level),
  allow_force_push: rule.allow_force_push === 1,
});

export const fromSent = (sent: RawParams): RuleValues => ({
  ...readTexts(sent, textNames),
  allow_force_push: isTicked(sent['allow_force_push']),
});

/** A refused form: of which rule (null: the form that adds one). */
export type RefusedForm = FormState<RuleValues> & { rule: string | null };

const levelNames: Readonly<Record<number, string>> = {
  0: 'Nobody',
  [levels.developer]: 'Developers and maintainers',
  [levels.master]: 'Maintainers',
};

const levelOptions = [levels.master, levels.developer, 0].map(
  (level) => [String(level), levelNames[level] ?? ''] as const,
);

export const ruleGuard = (kind: Kind): EditGuard<Rule, RuleValues> =>
  guardEdits({
    word: 'rule',
    fromRecord,
    labels: {
      ...Object.fromEntries(kind.levels),
      ...(kind.hasForcePush && { allow_force_push: 'Allow force push' }),
    },
    options: () => Object.fromEntries(kind.levels.map(([name]) => [name, levelOptions])),
  });

type ListContext = {
  visit: Visit;
  project: Project;
  kind: Kind;
  isOpen: boolean;
  refused: RefusedForm | null;
};

const ruleFields = (kind: Kind, id: string, { values, problems }: FormState<RuleValues>): Html => {
  const selects = kind.levels.map(([name, label]) =>
    select({ name, id: `${name}_${id}`, label, value: values[name], options: levelOptions, problems }),
  );
  const force = checkbox({
    name: 'allow_force_push',
    id: `allow_force_push_${id}`,
    label: 'Allow force push',
    hint: 'Anyone who can push can rewrite history. Commits of others can be lost.',
    checked: values.allow_force_push,
    problems,
  });
  return html`<div class="field-row">${selects}</div>${kind.hasForcePush && force}`;
};

const addForm = ({ visit, project, kind, refused }: ListContext): Html => {
  const state = refused?.rule === null ? refused : unsent(blank);
  const { values, problems } = state;
  const path = projectPagePath(project, kind.noun);
  return form(
    visit,
    { action: path, submit: 'Protect', problems },
    input({
      name: 'name',
      label: kind.word === 'branch' ? 'Branch' : 'Tag',
      hint: html`A name, or a pattern: <code>*</code> matches any characters, as in <code>${
        kind.word === 'branch' ? 'release/*' : 'v*'
      }</code>.`,
      value: values.name,
      autocomplete: 'off',
      required: true,
      problems,
    }),
    ruleFields(kind, 'new', state),
  );
};

const editForms = ({ visit, project, kind, refused }: ListContext, rule: Rule): Html => {
  const state = refused?.rule === rule.name ? refused : unsent(fromRecord(rule));
  const { problems } = state;
  const path = projectPagePath(project, kind.noun);
  const name = hidden('name', rule.name);
  const { base, submit, card } = ruleGuard(kind).parts(rule, state, path);
  const change = form(
    visit,
    {
      action: `${path}/change`,
      submit: card === null ? 'Save' : submit,
      name: `Save ${rule.name}`,
      problems,
    },
    name,
    base,
    ruleFields(kind, String(rule.id), state),
  );
  const removal = form(
    visit,
    { action: `${path}/delete`, submit: 'Unprotect', name: `Unprotect ${rule.name}`, danger: true },
    name,
  );
  return html`<details${problems !== noProblems && html` open`}><summary>${kind.change === null ? 'Unprotect' : 'Edit'}<span class="visually-hidden"> ${rule.name}</span></summary>
<div class="stack">${kind.change !== null && html`${change}${card}`}<p>Without protection, developers can change and delete ${
    rule.name.includes('*') ? `these ${kind.plural}` : `this ${kind.word}`
  } again.</p>${removal}</div></details>`;
};

const coveragePart = ({ plural, word }: Kind, { isPattern, count, isPartial }: Coverage): string | null => {
  if (!isPattern) return count === 0 ? `No such ${word} yet` : null;
  if (count === 0) return `Matches no ${plural} yet`;
  return `Matches ${isPartial ? 'at least ' : ''}${spellCount(count, word, plural)}`;
};

const line = (context: ListContext, rule: Rule, coverage: Coverage | undefined): Html => {
  const { kind, project } = context;
  const covered = coverage === undefined ? null : coveragePart(kind, coverage);
  const isDefault = kind.word === 'branch' && rule.name === project.default_branch;
  const roles = kind.levels.map(
    ([name, label]) => html`<span>${label}: ${levelNames[rule[name] ?? 0] ?? String(rule[name])}</span>`,
  );
  return html`<li>
<span class="lead">${icon(kind.word === 'branch' ? 'branch' : 'tag')}</span>
<span class="title"><code>${rule.name}</code>${isDefault && html` <span class="badge">Default</span>`}</span>
<span class="meta">${roles}${rule.allow_force_push === 1 && html`<span>Force push allowed</span>`}${
    covered !== null && html`<span>${covered}</span>`
  }</span>
${context.isOpen && editForms(context, rule)}</li>
`;
};

export type ListQuery = { page?: number; per_page?: number };

const listCard = async (context: ListContext, rules: readonly Rule[], page: PageRequest): Promise<Html> => {
  const { visit, project, kind } = context;
  if (rules.length === 0) {
    const text = `Developers can push to every ${kind.word}.`;
    return html`<div class="card">${emptyState({ icon: 'shield', title: `No ${kind.title.toLowerCase()}`, text })}</div>`;
  }
  const shown = rules.slice(page.offset, page.offset + page.limit);
  const coverage = await loadCoverage(
    visit,
    project,
    kind.prefix,
    shown.map(({ name }) => name),
  );
  return html`<div class="card"><ul class="list">${shown.map((rule) => line(context, rule, coverage.get(rule.name)))}</ul></div>
${pagesNav({ path: projectPagePath(project, kind.noun), query: {}, page, total: rules.length })}`;
};

/** Renders the page. @param refused null: no form was */
export const protectedView = async (
  kind: Kind,
  { visit, project }: { visit: Visit; project: Project },
  query: ListQuery,
  refused: RefusedForm | null = null,
): Promise<View> => {
  const isOpen = may(visit.call.viewer, 'admin_protected_ref', project);
  const context = { visit, project, kind, isOpen, refused };
  const rules = await kind.load(visit.call.db, project.id);
  const add = html`<section class="card" aria-labelledby="add_title"><header><h2 id="add_title">Protect a ${kind.word}</h2></header>
<div class="body">${addForm(context)}</div></section>`;
  const content = html`<p>${kind.intro}</p>
${refused !== null && refused.rule !== null && html`<p class="flash alert">Nothing was saved. Correct the rule of <code>${refused.rule}</code>.</p>`}
${isOpen ? add : html`<p class="quiet">The project is archived: its rules cannot be changed.</p>`}
${await listCard(context, rules, pageRequest(query))}`;
  return projectView(visit, { project, title: kind.title, noun: kind.noun }, content);
};
