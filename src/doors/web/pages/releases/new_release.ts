/** Creates releases, and their tags if missing. */
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { linkTypes } from '../../../../code/releases/links.ts';
import { createRelease } from '../../../../code/releases/write_releases.ts';
import { invalid } from '../../../../platform/errors.ts';
import { anything, hash, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { readRefFailure } from '../../parts/code/attempt_ref_change.ts';
import { form, input, select, textArea } from '../../parts/form.ts';
import { type FormProblems, withFormStatus } from '../../parts/form_problems.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { linkTypeNames } from './release_card.ts';
import {
  type FilledRelease,
  type LinkRow,
  filledAsSent,
  loadMilestoneChoices,
  maxLinkRows,
  parseLinkRows,
  readLinkRows,
  releaseFieldParts,
  releaseFields,
  releaseProblems,
  startOfDay,
  nullIfBlank,
} from './fields.ts';
import { releasePath, releasesPath, releasesRoutePath } from './paths.ts';
import { readTexts, textOrNull } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';

const newFields = {
  tag_name: optional(text({ maxLength: 1_000 })),
  ref: optional(text({ maxLength: 1_000 })),
  tag_message: optional(longText()),
};

type Filled = FilledRelease & {
  tag_name?: string | undefined;
  ref?: string | undefined;
  tag_message?: string | undefined;
  links?: readonly LinkRow[];
};

/** Maximum tags that the field proposes. */
const maxSuggestions = 50;

const loadTagNames = async ({ repository }: Code): Promise<string[]> => {
  const prefix = 'refs/tags/';
  const { names } = await repository.ask('refs.names', {
    prefix,
    sort: 'updated',
    offset: 0,
    limit: maxSuggestions,
  });
  return names.map((name) => name.slice(prefix.length));
};

const linkRow = (row: LinkRow | undefined, at: number): Html => {
  const name = (field: string): string => `assets[links][${at}][${field}]`;
  return html`<div class="link-row" role="group" aria-label="Link ${at + 1}">${input({ name: name('name'), label: 'Link title', value: row?.name ?? '' })}${input(
    { name: name('url'), label: 'URL', type: 'url', value: row?.url ?? '' },
  )}${select({
    name: name('link_type'),
    label: 'Type',
    value: row?.link_type ?? 'other',
    options: linkTypes.map((one) => [one, linkTypeNames[one]] as const),
  })}</div>
`;
};

const linksPart = (rows: readonly LinkRow[] = []): Html =>
  html`<fieldset><legend>Links to assets</legend><p class="hint">Packages, images and other files. More can be added afterwards.</p>
${Array.from({ length: Math.min(Math.max(2, rows.length), maxLinkRows) }, (_none, at) => linkRow(rows[at], at))}</fieldset>
`;

const newView = async (
  visit: Visit,
  code: Code,
  { values: filled, problems }: FormState<Filled>,
): Promise<View> => {
  const { project } = code;
  const [milestones, suggestions] = await Promise.all([
    loadMilestoneChoices(visit, project, []),
    project.default_branch === null ? [] : loadTagNames(code),
  ]);
  const content = html`<section class="card form-page"><div class="body">${form(
    visit,
    { action: releasesPath(project), submit: 'Create release', problems },
    input({
      name: 'tag_name',
      label: 'Tag',
      hint: 'An existing tag, or the name of a new one.',
      value: filled.tag_name ?? '',
      required: true,
      autofocus: true,
      suggestions,
      problems,
    }),
    input({
      name: 'ref',
      label: 'Create the tag from',
      hint: 'A branch, a tag or the id of a commit. Not used where the tag exists.',
      value: filled.ref ?? project.default_branch ?? '',
      problems,
    }),
    textArea({
      name: 'tag_message',
      label: 'Message of a new tag',
      hint: 'With a message, the tag is annotated.',
      value: filled.tag_message ?? '',
      rows: 2,
      problems,
    }),
    ...releaseFieldParts({ project, filled, milestones, problems }),
    linksPart(filled.links),
  )}</div></section>`;
  const view = projectView(visit, { project, title: 'New release', noun: 'releases' }, content);
  return withFormStatus(view, problems);
};

const newPage = page({
  method: 'GET',
  path: `${releasesRoutePath}/new`,
  audience: 'user',
  params: object({ ...projectPath, tag_name: newFields.tag_name }),
  handle: async (visit, { project, tag_name }) =>
    await newView(visit, await findCode(visit.call, project, 'admin_release'), unsent({ tag_name })),
});

/** Places a message about the whole request at the field it is about. */
const atField = (problems: FormProblems): FormProblems => {
  const { text: said, fields } = releaseProblems(problems);
  if (said === null) return { text: said, fields };
  if (/^(?:Target |Ref )/.test(said)) return { text: null, fields: { ...fields, ref: [said] } };
  const isTag = /^(?:Tag |Release already|You are not allowed)/.test(said);
  return isTag ? { text: null, fields: { ...fields, tag_name: [said] } } : { text: said, fields };
};

const create = formPage({
  path: releasesRoutePath,
  audience: 'user',
  address: projectPath,
  fields: { ...newFields, ...releaseFields, assets: optional(hash({ links: anything })) },
  find: async ({ call }, { project }) => await findCode(call, project, 'admin_release'),
  fromSent: (sent): Filled => ({
    ...filledAsSent(sent),
    ...readTexts(sent, ['tag_name', 'ref', 'tag_message']),
    links: readLinkRows(sent['assets']),
  }),
  readFailure: readRefFailure,
  toProblems: atField,
  run: async ({ call }, code, { assets, ...params }) => {
    const links = parseLinkRows(readLinkRows(assets));
    const tag = (params.tag_name ?? '').trim();
    if (tag === '') throw invalid({ tag_name: ["can't be blank"] });
    await createRelease(call, code, {
      tag,
      name: params.name ?? null,
      description: nullIfBlank(params.description),
      ref: textOrNull(params.ref),
      tag_message: nullIfBlank(params.tag_message),
      released_at: startOfDay(params.released_at),
      links,
      milestones: { milestone_ids: params.milestone_ids },
    });
    return redirect(releasePath(code.project, tag), 'The release was created.');
  },
  view: newView,
});

export const newPages = [newPage, create];
