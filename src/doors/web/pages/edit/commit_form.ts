/** The part of a form that names the branch and message of a commit, and where it leads. */
import { loadProtectedBranches, mayPushTo } from '../../../../code/repository/protection/rules.ts';
import { openCode } from '../../../../code/repository/find_code.ts';
import { branchPrefix, findRef, loadRefs } from '../../../../code/repository/refs/resolve.ts';
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { isGitFailure } from '../../../../platform/git/failure.ts';
import { boolean, longText, optional, text } from '../../../../platform/http/schema.ts';
import { type Redirect, type Visit, redirect } from '../../page.ts';
import { checkbox, input, textArea } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { newRequestPath } from '../merge_requests/new_request_links.ts';
import { type EditTarget, createsBranch } from './edit_target.ts';

/** Names of new branches that are proposed, by the user name. */
const maxPatches = 30;

/** Returns the branch of the page if the user may push to it and asked for no other, else the name of a new one. */
const proposeBranch = async ({ call }: Visit, target: EditTarget): Promise<string> => {
  const { project, code, ref, kind, startsRequest } = target;
  const rules = await loadProtectedBranches(call.db, project.id);
  if (kind === 'branch' && !startsRequest && mayPushTo(call.viewer, project, rules, ref)) return ref;
  const { username } = requireUser(call);
  const names = Array.from({ length: maxPatches }, (_name, at) => `${username}-patch-${at + 1}`);
  const refs = await loadRefs(
    code.repository,
    names.map((name) => branchPrefix + name),
  );
  return names.find((_name, at) => refs[at] === null) ?? '';
};

export const commitParams = {
  branch: optional(text()),
  commit_message: optional(longText()),
  opens_request: boolean({ default: false }),
};

export type CommitFields = {
  branch: string;
  commit_message: string;
  /** Redirects to a new merge request if the commit creates the branch. */
  opens_request: boolean;
};

type Sent = Partial<CommitFields>;

/** Returns the fields as a form sent them. */
export const readCommitFields = ({ branch = '', commit_message = '', opens_request = false }: Sent) => ({
  branch: branch.trim(),
  commit_message,
  opens_request,
});

/** Returns the fields of a new form. */
export const proposeCommit = async (
  visit: Visit,
  target: EditTarget,
  commit_message: string,
): Promise<CommitFields> => ({
  branch: await proposeBranch(visit, target),
  commit_message,
  opens_request: true,
});

/** Returns the branch that was edited, if the usual target of merge requests has it and its storage answers. */
const findTargetBranch = async (
  call: Call,
  { project, requestTarget: into, kind, ref }: EditTarget,
): Promise<string | undefined> => {
  if (kind !== 'branch') return undefined;
  if (into === null || into.id === project.id) return ref;
  try {
    const targetRef = await findRef(openCode(call, into).repository, branchPrefix + ref);
    return targetRef === null ? undefined : ref;
  } catch (error) {
    // The commit exists already, so its form must not fail: it would be sent again.
    if (!isGitFailure(error)) throw error;
    return undefined;
  }
};

/** Redirects after a commit: to a new merge request if the form asks for one with a new branch, else to the branch. */
export const afterCommit = async (
  { call }: Visit,
  target: EditTarget,
  { branch, opens_request }: CommitFields,
  { path, notice }: { path: string; notice: string },
): Promise<Redirect> => {
  if (!opens_request || !createsBranch(target, branch) || target.requestTarget === null) {
    return redirect(path, notice);
  }
  const target_branch = await findTargetBranch(call, target);
  return redirect(newRequestPath(target.project, { source_branch: branch, target_branch }), notice);
};

const requestBox = (
  { commit, project, requestTarget: into }: EditTarget,
  { opens_request: checked }: CommitFields,
): Html | null => {
  if (commit === null || into === null) return null;
  const place = into.id === project.id ? '' : ` in ${into.full_path}`;
  return checkbox({ name: 'opens_request', label: `Open a merge request${place} for a new branch`, checked });
};

/** Renders the fields for the message and branch of the commit. */
export const commitFields = (target: EditTarget, fields: CommitFields, problems: FormProblems): Html => {
  const { ref, kind } = target;
  const { branch, commit_message } = fields;
  return html`${textArea({ name: 'commit_message', label: 'Commit message', value: commit_message, rows: 3, problems })}${input(
    {
      name: 'branch',
      label: 'Branch',
      hint:
        kind === 'branch' && branch === ref
          ? `Another name creates a new branch from ${ref}.`
          : `A new branch, created from ${ref}.`,
      value: branch,
      required: true,
      problems,
    },
  )}${requestBox(target, fields)}`;
};
