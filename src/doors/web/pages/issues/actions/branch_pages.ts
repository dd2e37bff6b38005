/** Creates a branch for an issue, with a merge request or without one. */
import { forbidden } from '../../../../../platform/errors.ts';
import { oneOf, boolean, object, optional, text } from '../../../../../platform/http/schema.ts';
import { findIssue } from '../../../../../planning/issues/find.ts';
import {
  createBranchForIssue,
  createRequestForIssue,
  mayBranchForIssue,
} from '../../../../../review/merge_requests/issues/branch_for_issue.ts';
import { page, redirect } from '../../../page.ts';
import { attemptRefChange } from '../../../parts/code/attempt_ref_change.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { withFormStatus } from '../../../parts/form.ts';
import { projectView } from '../../../parts/frame/project_layout.ts';
import { html } from '../../../parts/html.ts';
import { requestPath } from '../../merge_requests/paths.ts';
import { issuePath, oneIssue, issuesRoutePath } from '../paths.ts';
import { branchForm } from '../show/branch_menu.ts';

const create = page({
  method: 'POST',
  path: `${issuesRoutePath}/:iid/branch`,
  audience: 'user',
  params: object({
    ...oneIssue,
    branch: optional(text({ maxLength: 1_000 })),
    ref: optional(text({ maxLength: 1_000 })),
    draft: optional(boolean()),
    intent: oneOf(['merge_request', 'branch'], { default: 'merge_request' }),
  }),
  handle: async (visit, { project: path, iid, branch: typed = '', ref = '', draft = false, intent }) => {
    const { call } = visit;
    const loaded = await findIssue(call, path, iid);
    const { project } = loaded;
    if (!mayBranchForIssue(call, loaded)) throw forbidden();
    const branch = typed.trim();
    let next = codePath(project, 'tree', branch);
    const problems = await attemptRefChange(async () => {
      const request = { branch, from: ref.trim() };
      if (intent === 'branch') await createBranchForIssue(call, loaded, request);
      else next = requestPath(await createRequestForIssue(call, loaded, { ...request, isDraft: draft }));
    });
    if (problems === null) return redirect(next);
    const content = html`<div class="form-page">${branchForm(visit, loaded, { branch, ref, draft, problems })}
<p><a href="${issuePath(loaded)}">Back to the issue</a></p></div>`;
    const title = `Create a branch for #${iid}`;
    return withFormStatus(projectView(visit, { project, title, noun: 'issues' }, content), problems);
  },
});

export const branchPages = [create];
