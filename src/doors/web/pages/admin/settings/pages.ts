import { changeSettings } from '../../../../instance/change_settings.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import { anything, object, oneOf, optional } from '../../../../../platform/http/schema.ts';
import { type Change, computeChanges } from '../../../../../core/settings/compute_changes.ts';
import { type SettingName, settingNames } from '../../../../../core/settings/fields.ts';
import { type Field, groups } from '../../../../../core/settings/field_kinds.ts';
import { readLastChanges } from '../../../../../core/settings/settings_store.ts';
import { toSettingContext } from '../../../../../core/settings/setting_context.ts';
import { basicUsersById } from '../../../../../identity/users/json.ts';
import { form } from '../../../parts/form.ts';
import {
  type FormProblems,
  attempt,
  noProblems,
  formatProblem,
  withFormStatus,
} from '../../../parts/form_problems.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { formatValue } from '../format_value.ts';
import {
  type DiagramAnswer,
  diagramAnswerPart,
  diagramTestButton,
  testDiagramServer,
} from './test_diagram_service.ts';
import { type Shown, settingPart } from './setting_field.ts';
import { type Typed, fieldOf, filledForm, readForm } from './read_form.ts';

const path = '/admin/application_settings';

type Group = (typeof groups)[number];

const idOf = (group: Group): string => `group_${group.toLowerCase().replaceAll(/\W/g, '_')}`;
const namesIn = (group: Group): SettingName[] => settingNames.filter((name) => fieldOf(name).group === group);

/** Problems that concern a whole group instead of one field. */
const groupProblems: Record<string, { group: Group; label: string }> = {
  allowed_key_types: { group: 'Keys', label: 'Allowed key types' },
};

const contents = html`<ul>${groups.map((group) => html`<li><a href="#${idOf(group)}">${group}</a></li>`)}</ul>`;

type LastChanges = Map<SettingName, NonNullable<Shown['last']>>;

const lastChanges = async ({ call: { db } }: Visit): Promise<LastChanges> => {
  const rows = await readLastChanges(db);
  const ids = rows.map(({ updated_by_id }) => updated_by_id).filter((id) => id !== null);
  const people = await basicUsersById(db, ids);
  return new Map(
    rows.map(({ name, updated_at, updated_by_id }) => [
      name,
      { at: updated_at, by: people.get(updated_by_id ?? 0)?.username ?? null },
    ]),
  );
};

const problemLink = ([name, problems]: [string, string[]]): Html => {
  const whole = groupProblems[name];
  const target = whole === undefined ? name : idOf(whole.group);
  const label = whole?.label ?? (fieldOf(name as SettingName) as Field | undefined)?.label ?? name;
  return html`<li><a href="#${target}">${problems.map((one) => formatProblem(label, one)).join('. ')}</a></li>
`;
};

/** Lists the problems with links, since the page has many fields. */
const problemList = ({ fields }: FormProblems): Html | null =>
  Object.keys(fields).length === 0
    ? null
    : html`<ul class="problems">${Object.entries(fields).map(problemLink)}</ul>
`;

const groupPart = (group: Group, parts: Html[], { fields }: FormProblems): Html => {
  const wrong = Object.entries(fields).filter(([name]) => groupProblems[name]?.group === group);
  return html`<section class="setting-group"><h2 id="${idOf(group)}">${group}</h2>
${wrong.map(([name, problems]) => html`<p class="error">${problems.map((one) => formatProblem(groupProblems[name]?.label ?? name, one)).join('. ')}</p>`)}
${parts}</section>`;
};

const changeLine = ({ name, before, after }: Change): Html =>
  html`<li><a href="#${name}">${fieldOf(name).label}</a>: ${formatValue(before)} <span aria-hidden="true">→</span><span class="visually-hidden">becomes</span> <strong>${formatValue(after)}</strong></li>
`;

/** Renders what saving would change. @param changes null if it was not asked */
const reviewPart = (changes: readonly Change[] | null): Html | null => {
  if (changes === null) return null;
  if (changes.length === 0) return html`<p class="flash" role="status">Saving would change nothing.</p>`;
  return html`<section class="card" aria-labelledby="review_title"><header><h2 id="review_title">Not saved yet</h2></header>
<ul class="body">${changes.map(changeLine)}</ul></section>`;
};

/** The button that shows what saving would change. */
const reviewButton = html`<button name="review" value="1">Review changes</button>`;

/** The setting whose value the button tests. */
const testedSetting = 'diagram_url';

type Tried = {
  typed?: Typed;
  problems?: FormProblems;
  changes?: readonly Change[];
  /** Response of the diagram service to a test. */
  diagram?: DiagramAnswer;
};

const settingsView = async (
  visit: Visit,
  { typed = {}, problems = noProblems, changes, diagram }: Tried = {},
): Promise<View> => {
  // The call's settings were loaded before its own change.
  const settings = visit.call.platform.settings.current;
  const around = toSettingContext(visit.call.platform.config);
  const last = await lastChanges(visit);
  const filled = filledForm(settings, typed, around);
  const part = (name: SettingName): Html =>
    settingPart({
      name,
      value: settings[name],
      filled: filled[name],
      problems,
      around,
      last: last.get(name) ?? null,
    });
  const content = html`<p>Changes take effect immediately, without a restart. Each setting is also a parameter of
<code>PUT /application/settings</code>, named below it.</p>
<p class="needs-script"><input type="search" placeholder="Filter settings" aria-label="Filter settings" data-filter=".settings .setting"></p>
<div class="settings">${form(
    visit,
    { action: path, submit: 'Save changes', other: html`${reviewButton}${diagramTestButton}`, problems },
    problemList(problems),
    reviewPart(changes ?? null),
    diagram === undefined ? null : diagramAnswerPart(diagram),
    ...groups.map((group) => groupPart(group, namesIn(group).map(part), problems)),
  )}</div>`;
  const view = adminView({ path, title: 'Settings', contents }, content);
  return withFormStatus(view, problems);
};

/** Most characters of the notice, which travels in a cookie. */
const longestNotice = 600;

const noticeOf = (changes: readonly Change[]): string => {
  if (changes.length === 0) return 'Nothing was changed.';
  const descriptions = changes.map(
    ({ name, before, after }) => `${name} ${formatValue(before)} -> ${formatValue(after)}`,
  );
  const text = `Saved: ${descriptions.join(', ')}`;
  if (text.length <= longestNotice) return text;
  return `Saved ${changes.length} settings: ${changes.map(({ name }) => name).join(', ')}`.slice(
    0,
    longestNotice,
  );
};

/** Adds a summary: the number of fields with problems. */
const withText = ({ text, fields }: FormProblems): FormProblems => {
  const count = Object.keys(fields).length;
  const said = count === 1 ? '1 setting has an invalid value' : `${count} settings have invalid values`;
  return { text: text ?? `Nothing was saved: ${said}.`, fields };
};

const raw = { ...anything, 'x-kind': 'any' };

export const settingsPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => await settingsView(visit),
  }),
  page({
    method: 'POST',
    path,
    audience: 'admin',
    // Parsed by `readForm`, field by field.
    params: object({
      ...Object.fromEntries(settingNames.map((name) => [name, optional(raw)])),
      seen: optional(raw),
      review: optional(raw),
      test: optional(oneOf(['diagram'])),
    }),
    handle: async (visit, sent) => {
      const { call } = visit;
      const around = toSettingContext(call.platform.config);
      const { seen, review, test } = sent as RawParams;
      const read = readForm(sent, (seen ?? {}) as RawParams, around);
      const { requested, typed } = read;
      if (test !== undefined && read.problems[testedSetting] === undefined) {
        // An emptied field is null.
        const url = (testedSetting in requested ? requested : call.settings)[testedSetting] as string | null;
        return await settingsView(visit, { typed, diagram: await testDiagramServer(visit, url) });
      }
      const isReadable = Object.keys(read.problems).length === 0;
      let changes: Change[] = [];
      const refused = await attempt(async () => {
        if (isReadable && review === undefined) changes = await changeSettings(call, requested);
        // If a form is unreadable in part, validates the rest, to report all problems.
        else ({ changes } = computeChanges(call.settings, requested, around));
      });
      const isFine = isReadable && refused === null;
      if (isFine && review !== undefined) return await settingsView(visit, { typed, changes });
      if (isFine) return redirect(path, noticeOf(changes));
      const problems = { text: refused?.text ?? null, fields: { ...refused?.fields, ...read.problems } };
      return await settingsView(visit, { typed, problems: withText(problems) });
    },
  }),
];
