/** Forms that revert or cherry-pick a merged request. */
import type { PickKind } from '../../../../../code/repository/commits/cherry_pick.ts';
import { openCode } from '../../../../../code/repository/find_code.ts';
import { may } from '../../../../../core/access/may.ts';
import { forbidden, notFound } from '../../../../../platform/errors.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { latestVersion } from '../../../../../review/merge_requests/versions/queries.ts';
import { page } from '../../../page.ts';
import { attemptRefChange } from '../../../parts/code/attempt_ref_change.ts';
import { pickChange, pickNotices, pickParams } from '../../../parts/code/pick_change.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestKind } from '../request_kind.ts';
import { wholeCommit } from '../show/merged_or_closed_box.ts';

const pickPage = (kind: PickKind) =>
  page({
    method: 'POST',
    path: `${requestsRoutePath}/:iid/${kind}`,
    audience: 'user',
    params: object({ ...oneRequest, ...pickParams }),
    handle: async (visit, { project: path, iid, ...sent }) => {
      const { call } = visit;
      const loaded = await findMergeRequest(call, path, iid);
      const { project, merge_request } = loaded;
      if (!may(call.viewer, 'push_code', project)) throw forbidden();
      const version = await latestVersion(call.db, merge_request);
      const sha =
        merge_request.state === 'merged' ? wholeCommit(merge_request, version?.commits_count ?? 0) : null;
      if (sha === null) throw notFound();
      let next = requestPath(loaded);
      const operation = async (): Promise<void> => {
        next = (await pickChange(call, openCode(call, project), { ...sent, kind, sha })) ?? next;
      };
      return await submitForm({ kind: requestKind, visit, loaded }, operation, {
        run: attemptRefChange,
        next: () => next,
        notice: pickNotices[kind],
      });
    },
  });

export const pickPages = [pickPage('revert'), pickPage('cherry_pick')];
