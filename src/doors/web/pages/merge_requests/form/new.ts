/** The page for a new merge request: choose branches, see their commits and changes, describe it. */
import { markDraft } from '../../../../../planning/issuables/text/draft_title.ts';
import { toCommitTitle } from '../../../../../code/repository/commits/json.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import { boolean, hash, object, optional } from '../../../../../platform/http/schema.ts';
import { createMergeRequest } from '../../../../../review/merge_requests/create.ts';
import { mergeRequestTexts } from '../../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../../review/merge_requests/lists/list.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../../page.ts';
import { type DiffChoice, diffParams, readDiffChoice } from '../../../parts/diff/diff_choice.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { form, hidden } from '../../../parts/form.ts';
import { type FormProblems, noProblems } from '../../../parts/form_problems.ts';
import { projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import {
  applyTemplate,
  chooseTemplate,
  templateFields,
  templateParams,
} from '../../issuables/description_templates.ts';
import { requestPath, requestsPath, requestsRoutePath } from '../paths.ts';
import { readPrefilledProperties } from '../../issuables/prefilled_properties.ts';
import { withNamedUsers } from '../../issuables/named_users.ts';
import { type EndProblems, branchFields, endsForm, endsQuery } from './branch_choice.ts';
import { type Ends, findEnds } from './find_ends.ts';
import { type Filled, requestFields } from './form_fields.ts';
import { type KeptParams, toKeptParams } from './kept_params.ts';
import { noSourceView } from './no_source.ts';
import { type Preview, loadPreview, previewPart } from './preview.ts';
import { endsParams, formFields, fromSent, toEnds, toNested, toText } from './sent_form.ts';

const pageOf = (visit: Visit, ends: Ends, content: Html, isWrong = false): View => {
  const { project } = ends;
  const view = projectView(visit, { project, title: 'New merge request', noun: 'merge_requests' }, content);
  return withRefusal(view, isWrong);
};

const chooseView = async (
  visit: Visit,
  ends: Ends,
  kept: KeptParams,
  problems: EndProblems = {},
): Promise<View> => {
  const { source, sources, targets } = ends;
  const isNamed = sources.length === 1 && targets.length > 1;
  return pageOf(
    visit,
    ends,
    html`<p class="muted">Choose the source branch with your changes and the target branch.${isNamed && html` The source is in <code>${source.full_path}</code>.`}</p>${await endsForm(visit, ends, { problems, kept })}`,
    Object.keys(problems).length > 0,
  );
};

/** Returns the number of the open merge request of the same branches; null if there is none. */
const findExisting = async (
  { call }: Visit,
  { source, target, source_branch, target_branch }: Ends,
): Promise<number | null> => {
  const { items } = await listMergeRequests({
    call,
    scope: { project: target },
    filters: {
      scope: 'all',
      state: 'opened',
      source_branch,
      target_branch,
      order_by: 'created_at',
      sort: 'desc',
    },
    page: pageRequest({ per_page: 20 }),
    texts: mergeRequestTexts,
  });
  const parse = ({ bytes }: JsonText): { iid: number; source_project_id: number | null } =>
    JSON.parse(bytes.toString('utf8'));
  return items.map(parse).find((one) => one.source_project_id === source.id)?.iid ?? null;
};

/** Splits a branch name into a title: `keep-loads` becomes `Keep loads`. */
const titleOfBranch = (name: string): string => {
  const words = name.replaceAll(/[-_/]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Proposes title and description: from the only commit, otherwise a title from the branch. */
const propose = (
  { source_branch }: Ends,
  { compared: { commits } }: Preview,
): Pick<Filled, 'title' | 'description'> => {
  const [only, ...others] = commits;
  if (only === undefined || others.length > 0)
    return { title: titleOfBranch(source_branch), description: '' };
  const [, ...rest] = only.message.split('\n');
  return { title: toCommitTitle(only.message), description: rest.join('\n').trim() };
};

type Describing = {
  /** Problems of the branches: a form was refused, and keeps what was typed. */
  preview: Preview | EndProblems;
  filled: Filled;
  choice: DiffChoice;
  /** Parameters of links to other steps of the form. */
  kept: KeptParams;
  templates?: Html | null;
  problems?: FormProblems;
};

const isPreview = (loaded: Preview | EndProblems): loaded is Preview => 'compared' in loaded;

const hiddenEnds = (ends: Ends): Html =>
  html`${Object.entries(endsQuery(ends)).map(([name, value]) => hidden(name, value))}`;

/** Renders editable branch fields after a refusal, because these branches cannot be used. */
const editableEnds = async (visit: Visit, ends: Ends, problems: EndProblems): Promise<Html> => {
  const fields = await branchFields(visit, ends, problems);
  const isProject = ([name]: [string, string]): boolean => name.endsWith('_project_id]');
  const projects = Object.entries(endsQuery(ends)).filter(isProject);
  const { source, target } = ends;
  const between =
    source.id !== target.id &&
    html`<p>From <code>${source.full_path}</code> into <code>${target.full_path}</code></p>`;
  return html`${between}${projects.map(([name, value]) => hidden(name, value))}${fields.source}${fields.target}`;
};

const describeView = async (
  visit: Visit,
  ends: Ends,
  { preview, filled, choice, kept, templates = null, problems = noProblems }: Describing,
): Promise<View> => {
  const { project, source, source_branch, target, target_branch } = ends;
  const change = `${requestsPath(project)}/new?${new URLSearchParams({ ...endsQuery(ends), ...kept, change_branches: '1' }).toString()}`;
  const fromName = source.id === target.id ? source_branch : `${source.full_path}:${source_branch}`;
  const existing = source_branch === '' ? null : await findExisting(visit, ends);
  const fields = await requestFields(visit, ends, filled, problems);
  const loaded = isPreview(preview) ? preview : null;
  const isRefused = problems !== noProblems;
  const hasCommits = (loaded?.compared.commits.length ?? 0) > 0;
  const canChange = isRefused && (!hasCommits || existing !== null);
  const branches = canChange
    ? await editableEnds(visit, ends, isPreview(preview) ? {} : preview)
    : hiddenEnds(ends);
  const body =
    !hasCommits && !canChange
      ? html`<section class="card">${emptyState({
          icon: 'commit',
          title: 'Nothing to merge',
          text: `${target_branch} already contains all commits of ${fromName}.`,
        })}</section>`
      : html`${form(
          visit,
          { action: requestsPath(project), submit: 'Create merge request', problems },
          templates,
          branches,
          fields,
        )}${loaded !== null && hasCommits && (await previewPart(visit, ends, loaded, { choice, kept }))}`;
  return pageOf(
    visit,
    ends,
    html`${!canChange && html`<p>From <code>${fromName}</code> into <code>${source.id !== target.id && `${target.full_path}:`}${target_branch}</code> · <a href="${change}">Change branches</a></p>`}
${existing !== null && html`<p class="flash warning">These branches have an open merge request already: <a href="${requestsPath(target)}/${existing}">!${existing}</a></p>`}${body}`,
    isRefused,
  );
};

const showNew = page({
  method: 'GET',
  path: `${requestsRoutePath}/new`,
  audience: 'user',
  params: object({
    ...projectPath,
    merge_request: optional(hash({})),
    issuable_template: templateParams.issuable_template,
    change_branches: optional(boolean()),
    ...diffParams,
  }),
  handle: async (visit, { project: path, merge_request, issuable_template: name, ...sent }) => {
    const params = toNested(merge_request);
    const ends = await findEnds(visit, path, toEnds(params));
    if (ends.source === null) return noSourceView(visit, ends);
    const [title, typed] = [toText(params['title']), toText(params['description'])];
    const properties = readPrefilledProperties(params);
    const kept = toKeptParams({ ...properties, title, description: typed, template: name });
    if (ends.source_branch === '' || sent.change_branches === true) {
      return await chooseView(visit, ends, kept);
    }
    const choice = readDiffChoice(visit, sent);
    const preview = await loadPreview(visit, ends, choice);
    if (!isPreview(preview)) return await chooseView(visit, ends, kept, preview);
    const proposed = propose(ends, preview);
    const requested = typed === undefined ? name : null;
    const offer = await chooseTemplate(visit, ends.target, { type: 'merge_requests', requested });
    const templates = templateFields(`${requestsPath(ends.project)}/new`, offer);
    const filled: Filled = {
      ...properties,
      title: title ?? proposed.title,
      draft: false,
      description: typed ?? offer.chosen?.content ?? proposed.description,
      squash: ends.target.squash_option === 'default_on',
      remove_source_branch: ends.target.remove_source_branch_after_merge === 1,
    };
    return await describeView(visit, ends, { preview, filled, choice, kept, templates });
  },
});

/** Shows the form again with what was typed, and a template. */
const useTemplate = page({
  method: 'POST',
  path: `${requestsRoutePath}/new`,
  audience: 'user',
  params: object({ ...endsParams, ...formFields, ...templateParams }),
  handle: async (visit, { project: path, merge_request, issuable_template, applied_template }, sent) => {
    const ends = await findEnds(visit, path, toEnds(toNested(merge_request)));
    if (ends.source === null) return noSourceView(visit, ends);
    const typed = fromSent(sent);
    const applied = await applyTemplate(visit, ends.target, {
      type: 'merge_requests',
      issuable_template,
      applied_template,
      description: typed.description,
    });
    const filled = { ...typed, description: applied.description };
    const kept = toKeptParams(filled);
    const choice = readDiffChoice(visit, {});
    const preview = await loadPreview(visit, ends, choice);
    if (!isPreview(preview)) return await chooseView(visit, ends, kept, preview);
    const templates = templateFields(`${requestsPath(ends.project)}/new`, applied);
    return await describeView(visit, ends, { preview, filled, choice, kept, templates });
  },
});

const create = formPage({
  path: requestsRoutePath,
  audience: 'user',
  address: endsParams,
  fields: formFields,
  find: async (visit, { project, merge_request }) =>
    await findEnds(visit, project, toEnds(toNested(merge_request))),
  fromSent,
  run: async (visit, ends, { project: _path, merge_request: _ends, title: typed = '', ...sent }) => {
    if (ends.source === null) return noSourceView(visit, ends);
    const { draft = false, description, ...rest } = sent;
    const { source, target, source_branch, target_branch } = ends;
    const title = draft && typed.trim() !== '' ? markDraft(typed) : typed;
    const input = { ...rest, title, description: description ?? '', source_branch, target_branch };
    const edit = { ...(await withNamedUsers(visit.call.db, input)), target_project_id: target.id };
    return redirect(requestPath(await createMergeRequest(visit.call, source, edit)));
  },
  view: async (visit, ends, { values: filled, problems }) => {
    if (ends.source === null) return noSourceView(visit, ends);
    const choice = readDiffChoice(visit, {});
    const preview =
      ends.source_branch === ''
        ? { source_branch: 'Choose a source branch.' }
        : await loadPreview(visit, ends, choice);
    return await describeView(visit, ends, {
      preview,
      filled,
      choice,
      kept: toKeptParams(filled),
      problems,
    });
  },
});

export const newPages = [showNew, useTemplate, create];
