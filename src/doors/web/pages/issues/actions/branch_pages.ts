/** Creates a branch for an issue, with a merge request or without one. */
import { forbidden } from '../../../../../platform/errors.ts';
import { oneOf, boolean, optional, text } from '../../../../../platform/http/schema.ts';
import { findIssue } from '../../../../../planning/issues/find.ts';
import {
  createBranchForIssue,
  createRequestForIssue,
  mayBranchForIssue,
} from '../../../../../review/merge_requests/issues/branch_for_issue.ts';
import { redirect } from '../../../page.ts';
import { readRefFailure } from '../../../parts/code/attempt_ref_change.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { isTicked, readTexts } from '../../../parts/fields/field_text.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { projectView } from '../../../parts/frame/project_layout.ts';
import { html } from '../../../parts/html.ts';
import { requestPath } from '../../merge_requests/paths.ts';
import { issuePath, oneIssue, issuesRoutePath } from '../paths.ts';
import { branchForm } from '../show/branch_menu.ts';

const create = formPage({
  path: `${issuesRoutePath}/:iid/branch`,
  audience: 'user',
  address: oneIssue,
  fields: {
    branch: optional(text({ maxLength: 1_000 })),
    ref: optional(text({ maxLength: 1_000 })),
    draft: optional(boolean()),
    intent: oneOf(['merge_request', 'branch'], { default: 'merge_request' }),
  },
  find: async ({ call }, { project, iid }) => {
    const loaded = await findIssue(call, project, iid);
    if (!mayBranchForIssue(call, loaded)) throw forbidden();
    return loaded;
  },
  fromSent: (sent) => ({ ...readTexts(sent, ['branch', 'ref']), draft: isTicked(sent['draft']) }),
  readFailure: readRefFailure,
  run: async ({ call }, loaded, { branch: typed = '', ref = '', draft = false, intent }) => {
    const branch = typed.trim();
    const request = { branch, from: ref.trim() };
    if (intent === 'merge_request')
      return redirect(requestPath(await createRequestForIssue(call, loaded, { ...request, isDraft: draft })));
    await createBranchForIssue(call, loaded, request);
    return redirect(codePath(loaded.project, 'tree', branch));
  },
  view: (visit, loaded, { values, problems }) => {
    const content = html`<div class="form-page">${branchForm(visit, loaded, { ...values, problems })}
<p><a href="${issuePath(loaded)}">Back to the issue</a></p></div>`;
    const title = `Create a branch for #${loaded.issue.iid}`;
    return projectView(visit, { project: loaded.project, title, noun: 'issues' }, content);
  },
});

export const branchPages = [create];
