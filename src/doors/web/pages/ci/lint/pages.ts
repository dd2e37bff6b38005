/** Validates a CI configuration: the file of a branch, or a text. Creates no pipeline. */
import { getConfigPath } from '../../../../../ci/pipelines/config/ci_files.ts';
import {
  type ProjectLint,
  lintProjectFile,
  lintProjectText,
} from '../../../../../ci/pipelines/lint/lint_project.ts';
import { type Code, findCode } from '../../../../../code/repository/find_code.ts';
import { may } from '../../../../../core/access/may.ts';
import { isNotFound } from '../../../../../platform/errors.ts';
import { boolean, clearable, longText, object, optional, text } from '../../../../../platform/http/schema.ts';
import { checkbox, form, input } from '../../../parts/form.ts';
import { projectPagePath, projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, withRefusal } from '../../../page.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';
import { resultPart } from './result.ts';
import { projectSuggestions } from '../../../parts/fields/suggestions.ts';

const routePath = `${projectRoot}/ci/lint`;
const refParam = optional(clearable(text({ maxLength: 1_000 })));

type PageQuery = {
  ref: string;
  dry_run: boolean;
  /** null: nothing was validated yet. */
  result: ProjectLint | null;
  /** The text came from the form. */
  isTyped: boolean;
  /** The ref does not exist. */
  isMissing?: boolean;
  /** The text of the form, where it was not validated. */
  content?: string;
};

/** Runs a validation; null if the ref does not exist. */
const unlessMissing = async (validate: () => Promise<ProjectLint>): Promise<ProjectLint | null> => {
  try {
    return await validate();
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
};

const missingAlert = (ref: string): Html =>
  html`<p class="flash alert" role="alert">No branch, tag or commit is named ${ref}.</p>`;

const refInput = ({ project }: Code, id: string, label: string, ref: string): Html =>
  input({
    name: 'ref',
    id,
    label,
    value: ref,
    suggestions: projectSuggestions(project.id, 'branches'),
  });

const dryRunBox = (id: string, checked: boolean): Html =>
  checkbox({ name: 'dry_run', id, label: 'Plan the pipeline of a push: apply rules', checked });

const fileForm = (code: Code, path: string, { ref, dry_run }: PageQuery, mayPlan: boolean): Html =>
  html`<form method="get" action="${path}" class="filter">
${refInput(code, 'file_ref', 'Branch, tag or commit', ref)}${mayPlan && dryRunBox('file_dry_run', dry_run)}<div class="buttons"><button>Validate file</button></div>
</form>
`;

/** Browsers drop the first newline after the tag. */
const codeArea = (value: string): Html =>
  html`<div class="field"><label for="content">Configuration</label>
<textarea class="code" id="content" name="content" rows="16" spellcheck="false" autocapitalize="off">
${value}</textarea></div>
`;

const lintView = (visit: Visit, code: Code, query: PageQuery): View => {
  const { project } = code;
  const { ref, dry_run, result, isTyped, isMissing = false } = query;
  const path = projectPagePath(project, 'ci/lint');
  const isDeveloper = may(visit.call.viewer, 'lint_ci', project);
  const configPath = getConfigPath(project);
  const typed = html`<section class="card" aria-label="Text"><header><h2>Text</h2></header><div class="body">${form(
    visit,
    { action: path, submit: 'Validate text' },
    codeArea(result?.content ?? query.content ?? ''),
    refInput(code, 'text_ref', 'Branch or tag whose files are included', ref),
    dryRunBox('text_dry_run', dry_run),
  )}</div></section>`;
  const content = html`<p class="muted">No pipeline is created, and no values of stored variables are used.</p>
<section class="card" aria-label="File"><header><h2>File <code>${configPath}</code></h2></header><div class="body">${fileForm(code, path, query, isDeveloper)}</div></section>
${isMissing && missingAlert(ref)}${result !== null && resultPart(code, result, isTyped ? null : ref)}
${isDeveloper && typed}`;
  const view = projectView(
    visit,
    { project, title: 'Validate the CI configuration', noun: 'ci/lint' },
    html`<div class="stack">${content}</div>`,
  );
  return withRefusal(view, isMissing);
};

export const pages = [
  page({
    method: 'GET',
    path: routePath,
    audience: 'user',
    params: object({ ...projectPath, ref: refParam, dry_run: boolean({ default: false }) }),
    handle: async (visit, { project: fullPath, ref, dry_run }) => {
      const code = await findCode(visit.call, fullPath);
      const chosen = ref ?? '';
      const request = { content_ref: chosen, dry_run_ref: undefined, dry_run };
      const result =
        chosen === ''
          ? null
          : await unlessMissing(async () => await lintProjectFile(visit.call, code, request));
      const shown = chosen === '' ? (code.project.default_branch ?? '') : chosen;
      const isMissing = chosen !== '' && result === null;
      return lintView(visit, code, { ref: shown, dry_run, result, isTyped: false, isMissing });
    },
  }),
  page({
    method: 'POST',
    path: routePath,
    audience: 'user',
    params: object({
      ...projectPath,
      content: longText(),
      ref: refParam,
      dry_run: boolean({ default: false }),
    }),
    handle: async (visit, { project: fullPath, content, ref, dry_run }) => {
      const code = await findCode(visit.call, fullPath, 'lint_ci');
      const chosen = (ref ?? '') === '' ? undefined : (ref ?? undefined);
      const result = await unlessMissing(
        async () => await lintProjectText(visit.call, code, { content, ref: chosen, dry_run }),
      );
      const isMissing = result === null;
      return lintView(visit, code, { ref: chosen ?? '', dry_run, result, isTyped: true, isMissing, content });
    },
  }),
];
