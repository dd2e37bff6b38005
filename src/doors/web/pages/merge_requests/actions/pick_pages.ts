/** Forms that revert or cherry-pick a merged request. */
import type { Call } from '../../../../../core/access/call.ts';
import { createBranch } from '../../../../../code/repository/branches/create.ts';
import { type Code, openCode } from '../../../../../code/repository/find_code.ts';
import { type PickKind, pickCommit } from '../../../../../code/repository/commits/cherry_pick.ts';
import { branchPrefix, findRef, requireCommit } from '../../../../../code/repository/refs/resolve.ts';
import { may } from '../../../../../core/access/may.ts';
import { forbidden, invalid, notFound } from '../../../../../platform/errors.ts';
import { boolean, object, optional, text } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { latestVersion } from '../../../../../review/merge_requests/versions/queries.ts';
import { page } from '../../../page.ts';
import { attemptRefChange } from '../../../parts/code/attempt_ref_change.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { oneRequest, requestPath, requestsPath, servedRequests } from '../paths.ts';
import { requestKind } from '../request_kind.ts';
import { wholeCommit } from '../show/merged_or_closed_box.ts';

const verbs: Record<PickKind, string> = { revert: 'revert', cherry_pick: 'cherry-pick' };

/** Branches of the same name that are tried. */
const maxNames = 20;

/** Finds a name for the new branch: `revert-1a2b3c4d`, or with a number. */
const freeName = async ({ repository }: Code, start: string): Promise<string> => {
  for (let number = 1; number <= maxNames; number += 1) {
    const name = number === 1 ? start : `${start}-${number}`;
    if ((await findRef(repository, branchPrefix + name)) === null) return name;
  }
  throw invalid({ branch: ['has too many of these branches already'] });
};

type Picked = { kind: PickKind; sha: string; branch: string };

/** Commits to a new branch, for a merge request. @returns its name */
const pickInNewBranch = async (call: Call, code: Code, { kind, sha, branch }: Picked): Promise<string> => {
  const commit = await requireCommit(code, sha);
  // Whether it applies is known before a branch is created.
  await pickCommit(call, code, [kind, commit], { branch, dry_run: true });
  const name = await freeName(code, `${verbs[kind]}-${sha.slice(0, 8)}`);
  await createBranch(call, code, { branch: name, from: branchPrefix + branch });
  await pickCommit(call, code, [kind, commit], { branch: name });
  return name;
};

const pickPage = (kind: PickKind) =>
  page({
    method: 'POST',
    path: `${servedRequests}/:iid/${kind}`,
    audience: 'user',
    params: object({
      ...oneRequest,
      branch: optional(text({ maxLength: 1_000 })),
      request: optional(boolean({ description: 'commit to a new branch, for a merge request' })),
    }),
    handle: async (visit, { project: path, iid, branch: typed = '', request = false }) => {
      const { call } = visit;
      const loaded = await findMergeRequest(call, path, iid);
      const { project, merge_request } = loaded;
      if (!may(call.viewer, 'push_code', project)) throw forbidden();
      const version = await latestVersion(call.db, merge_request);
      const sha =
        merge_request.state === 'merged' ? wholeCommit(merge_request, version?.commits_count ?? 0) : null;
      if (sha === null) throw notFound();
      const code = openCode(call, project);
      const branch = typed.trim();
      let next = requestPath(loaded);
      const operation = async (): Promise<void> => {
        if (branch === '') throw invalid({ branch: ['is missing'] });
        if (!request) {
          await pickCommit(call, code, [kind, await requireCommit(code, sha)], { branch });
          return;
        }
        const name = await pickInNewBranch(call, code, { kind, sha, branch });
        const query = new URLSearchParams({
          'merge_request[source_branch]': name,
          'merge_request[target_branch]': branch,
        });
        next = `${requestsPath(project)}/new?${query.toString()}`;
      };
      return await submitForm({ kind: requestKind, visit, loaded }, operation, {
        run: attemptRefChange,
        next: () => next,
        notice: kind === 'revert' ? 'The change was reverted.' : 'The change was cherry-picked.',
      });
    },
  });

export const pickPages = [pickPage('revert'), pickPage('cherry_pick')];
